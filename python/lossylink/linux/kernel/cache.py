"""Where kernels for virtual time are kept: one folder for each key, and one for each unfinished build."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from lossylink.errors import UserError
from lossylink.linux.kernel.lock import LOCK, only_builder
from lossylink.linux.kernel.machine import build_minutes
from lossylink.linux.kernel.places import is_plain, temporary_folder
from lossylink.linux.kernel.recipe import recipe_hash

#: The kernel in its folder, and what is known of it.
BINARY, RECORD = "linux", "kernel.json"

_WORK = "work-"


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built.

    ``source`` says of what it was built, ``recipe`` with which edits and driver, ``seconds`` in what time.
    """

    binary: Path
    version: str
    key: str
    recipe: str
    source: str
    compiler: str
    seconds: float
    bytes: int
    built_at: str

    def as_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        return {**asdict(self), "binary": str(self.binary)}


@dataclass(frozen=True)
class Unfinished:
    """A build that was interrupted, which the next one goes on with."""

    folder: Path
    key: str


def cache_folder() -> Path:
    """Return the folder of all kernels, in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    named = os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "lossylink" / "kernel"


def kernels() -> list[Kernel]:
    """Return every kernel in the cache, the newest first."""
    found = [kernel for path in _folders(cache_folder()) if (kernel := kernel_in(path)) is not None]
    return sorted(found, key=lambda kernel: kernel.built_at, reverse=True)


def find_kernel() -> Kernel | None:
    """Return the newest kernel that was built with the present driver, fragment and edits, or None.

    This reads a few small files and asks no program.

    Examples
    --------
    >>> kernel = find_kernel()
    >>> kernel is None or kernel.binary.is_file()
    True
    """
    recipe = recipe_hash()
    return next((kernel for kernel in kernels() if kernel.recipe == recipe), None)


def require_kernel() -> Kernel:
    """Return the kernel that `find_kernel` finds.

    Raises
    ------
    UserError
        There is none.
    """
    kernel = find_kernel()
    if kernel is None:
        raise UserError(
            "there is no kernel for virtual time; "
            f"run lossylink kernel build (about {build_minutes()} minutes)"
        )
    return kernel


def kernel_in(folder: Path) -> Kernel | None:
    """Return the kernel of a folder, or None if the folder holds no whole one."""
    binary = folder / BINARY
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        kernel = Kernel(**{**record, "binary": binary})
        return kernel if binary.stat().st_size == kernel.bytes else None
    except (OSError, ValueError, TypeError):
        return None


def write_record(kernel: Kernel, folder: Path) -> None:
    """Write beside a kernel what is known of it; its place is not part of that."""
    known = kernel.as_dict()
    del known["binary"]
    (folder / RECORD).write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def folder_of(key: str) -> Path:
    """Return the folder in which the kernel of a key is, or will be."""
    return cache_folder() / key


def build_folder() -> Path:
    """Return the folder below which kernels are built.

    It is that of all kernels, or a temporary one of this user and cache where Linux cannot be built: its
    makefiles end a path at a space or a colon.
    """
    folder = cache_folder()
    if is_plain(folder):
        return folder
    return temporary_folder() / f"lossylink-kernel-{os.getuid()}-{zlib.crc32(os.fsencode(folder)):08x}"


def work_folder(key: str) -> Path:
    """Return the folder in which the kernel of a key is built."""
    return build_folder() / f"{_WORK}{key}"


def unfinished() -> list[Unfinished]:
    """Return the builds that were interrupted, or that run at present."""
    return [
        Unfinished(path, path.name.removeprefix(_WORK)) for path in _folders(build_folder()) if _is_work(path)
    ]


def remove_all() -> None:
    """Remove every kernel, every unfinished build and what guests have kept beside them.

    Raises
    ------
    UserError
        A build runs at present.
    """
    with only_builder(cache_folder()):
        for path in cache_folder().iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != LOCK:
                path.unlink()
        for build in unfinished():
            shutil.rmtree(build.folder)


def _folders(parent: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(path for path in parent.iterdir() if path.is_dir())
    return []


def _is_work(path: Path) -> bool:
    return path.name.startswith(_WORK)
