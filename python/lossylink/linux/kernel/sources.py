"""Where the kernel's source comes from: Debian's package of it, or a tree of the user's own."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lossylink.errors import RunError, UserError
from lossylink.linux.kernel.making import Log

#: Series that Debian offers and that are known to work, the preferred one first.
SERIES = ("6.12", "6.1")

#: What no kernel for User-Mode Linux reads: it is not unpacked.
_UNREAD = (
    *(
        f"arch/{name}/[!c]*"  # arch/*/crypto/Kconfig is read
        for name in (
            *("alpha", "arc", "arm", "arm64", "csky", "hexagon", "ia64", "loongarch", "m68k", "microblaze"),
            *("mips", "nios2", "openrisc", "parisc", "powerpc", "riscv", "s390", "sh", "sparc", "xtensa"),
        )
    ),
    "drivers/gpu/drm/amd/include",
    "tools/testing",
)

_URI_LINE = re.compile(r"'(?P<uri>\S+)' (?P<file>\S+) (?P<bytes>\d+)")
_PIECE_BYTES = 1 << 20
_WAIT_SECONDS = 0.5


@dataclass(frozen=True)
class Package:
    """Debian's package of a kernel's source, as apt offers it."""

    name: str
    release: str
    bytes: int

    @property
    def identity(self) -> str:
        """Package and its version, which decide its contents."""
        return f"{self.name} {self.release}"

    @property
    def version(self) -> str:
        """Version of the kernel, without Debian's revision.

        Examples
        --------
        >>> Package("linux-source-6.12", "6.12.117-1~deb12u1", 0).version
        '6.12.117'
        """
        return self.release.rpartition("-")[0] or self.release


@dataclass(frozen=True)
class Tree:
    """A kernel's source tree in a directory of the user's."""

    directory: Path
    version: str

    @property
    def identity(self) -> str:
        """Place and version, and a hash over name, size and last change of each file but those of git."""
        seen = hashlib.sha256()
        for name, size, changed in sorted(_files(self.directory)):
            seen.update(f"{name}\0{size}\0{changed}\n".encode(errors="surrogateescape"))
        return f"{self.directory} {self.version} {seen.hexdigest()[:16]}"


def _files(directory: Path) -> Iterator[tuple[str, int, int]]:
    for folder, names, files in os.walk(directory):
        names[:] = [name for name in names if name != ".git"]
        for file in files:
            path = os.path.join(folder, file)
            facts = os.lstat(path)
            yield path, facts.st_size, facts.st_mtime_ns


def offered_package(series: str | None) -> Package:
    """Return the package of a series, or of the first one in `SERIES` that apt offers.

    Raises
    ------
    UserError
        There is no apt here, or it does not offer the source.
    """
    if missing := [name for name in ("apt-get", "dpkg-deb") if shutil.which(name) is None]:
        raise UserError(
            f"there is no {missing[0]} on this machine to fetch a kernel's source; "
            "name a tree of Linux 6.1 or 6.12: lossylink kernel build --source DIR"
        )
    wanted = (series,) if series else SERIES
    for one in wanted:
        if package := _offered(f"linux-source-{one}"):
            return package
    names = " nor ".join(f"linux-source-{one}" for one in wanted)
    raise UserError(f"apt does not offer {names}; run apt-get update, or name a tree: --source DIR")


def _offered(name: str) -> Package | None:
    """Ask apt what it would fetch; this asks no server."""
    words = ["apt-get", "download", "--print-uris", name]
    done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    found = _URI_LINE.search(done.stdout)
    if done.returncode != 0 or found is None:
        return None
    release = found["file"].removesuffix(".deb").split("_")[1].replace("%3a", ":").rpartition(":")[2]
    return Package(name, release, int(found["bytes"]))


def own_tree(directory: Path) -> Tree:
    """Return a tree of the user's own.

    Raises
    ------
    UserError
        The directory holds no kernel's source.
    """
    makefile = directory / "Makefile"
    if not (directory / "arch/um/Kconfig").is_file() or not makefile.is_file():
        raise UserError(
            f"{directory} holds no source of a kernel: it lacks arch/um/Kconfig; name the top of a tree"
        )
    text = makefile.read_text(encoding="utf-8", errors="replace")
    numbers = [
        found[1] if (found := re.search(rf"^{word} = (\d+)$", text, re.MULTILINE)) else "0"
        for word in ("VERSION", "PATCHLEVEL", "SUBLEVEL")
    ]
    return Tree(directory.resolve(), ".".join(numbers))


def fetch(package: Package, folder: Path, log: Log) -> Iterator[tuple[float, float]]:
    """Download a package into ``folder``, which is there whole or not at all; yield bytes done and all bytes.

    Raises
    ------
    RunError
        apt failed.
    """
    partial = _emptied(folder)
    with log.started(["apt-get", "download", f"{package.name}={package.release}"], partial) as apt:
        while apt.poll() is None:
            there = sum(path.stat().st_size for path in partial.glob("*") if path.is_file())
            yield there, package.bytes
            try:
                apt.wait(_WAIT_SECONDS)
            except subprocess.TimeoutExpired:
                continue
    if apt.returncode != 0:
        raise RunError(f"apt-get download {package.name} failed: {log.complaint()}; run apt-get update")
    partial.rename(folder)


def archive_in(folder: Path, log: Log) -> Path:
    """Take the archive of the sources out of the package in a folder, and return it.

    Raises
    ------
    RunError
        The package is damaged, or holds no archive.
    """
    inside = folder / "package"
    log.run(["dpkg-deb", "--extract", str(next(folder.glob("*.deb"), "*.deb")), str(inside)], folder)
    found = next(inside.glob("usr/src/linux-source-*.tar.xz"), None)
    if found is None:
        raise RunError(f"the package in {folder} holds no usr/src/linux-source-*.tar.xz")
    return found


def unpack(archive: Path, tree: Path, log: Log) -> Iterator[tuple[float, float]]:
    """Unpack an archive into ``tree``, which is there whole or not at all; yield bytes read and all bytes.

    Raises
    ------
    RunError
        tar failed.
    """
    partial = _emptied(tree)
    words = ["tar", "--extract", "--xz", "--strip-components=1", "--wildcards"]
    words += [f"--exclude=*/{name}" for name in _UNREAD]
    total = archive.stat().st_size
    with log.started(words, partial, stdin=subprocess.PIPE) as tar, archive.open("rb") as packed:
        assert tar.stdin is not None
        try:
            while piece := packed.read(_PIECE_BYTES):
                tar.stdin.write(piece)
                yield packed.tell(), total
            tar.stdin.close()
        except BrokenPipeError:
            pass  # tar has said why
        tar.wait()
    if tar.returncode != 0:
        raise RunError(f"cannot unpack {archive.name}: {log.complaint()}")
    partial.rename(tree)


def copy(source: Tree, tree: Path, log: Log) -> None:
    """Copy a tree of the user's, without its history, and clean the copy of what was built there.

    Raises
    ------
    RunError
        The copy failed.
    """
    partial = _emptied(tree)
    parts = sorted(str(path) for path in source.directory.iterdir() if path.name != ".git")
    log.run(["cp", "--archive", "--reflink=auto", *parts, str(partial)], partial)
    log.run(["make", "ARCH=um", "mrproper"], partial)
    partial.rename(tree)


def _emptied(place: Path) -> Path:
    """Return an empty folder beside a place, which takes the place once it is whole."""
    partial = place.with_name("partial")
    if partial.exists():
        shutil.rmtree(partial)
    partial.mkdir()
    return partial
