"""Builds a kernel for virtual time, step by step; a build that was stopped goes on where it was."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lossylink.errors import UserError, unknown
from lossylink.linux.kernel import cache
from lossylink.linux.kernel.cache import Kernel
from lossylink.linux.kernel.configuring import add_driver, configure
from lossylink.linux.kernel.edits import apply_edits
from lossylink.linux.kernel.lock import Note, only_builder
from lossylink.linux.kernel.machine import require_machine
from lossylink.linux.kernel.making import Log
from lossylink.linux.kernel.recipe import compiler_version, key_of, recipe_hash
from lossylink.linux.kernel.sources import (
    SERIES,
    Package,
    Tree,
    archive_in,
    copy,
    fetch,
    offered_package,
    own_tree,
    unpack,
)

#: Opens the display of a step by its title; what it gives takes the work done and the whole work.
Progress = Callable[[str], AbstractContextManager[Callable[[float, float], None]]]

#: Lines of make that stand for a finished file, and about how many there will be: Linux 6.12 has 1,069.
_COUNTED = ("  CC ", "  AR ")
_EXPECTED_LINES = 1069


@dataclass(frozen=True)
class _Work:
    """The folder of one build, and what in it says how far the build is."""

    folder: Path

    @property
    def fetched(self) -> Path:
        """Where Debian's package is."""
        return self.folder / "fetched"

    @property
    def tree(self) -> Path:
        """Where the source is, whole."""
        return self.folder / "tree"

    @property
    def configured(self) -> Path:
        """The file that says that make can begin, or go on."""
        return self.folder / "configured"

    @property
    def finished(self) -> Path:
        """What becomes the kernel's folder in the cache."""
        return self.folder / "finished"

    @property
    def log(self) -> Log:
        return Log(self.folder / "build.log")

    def seconds(self) -> float:
        """Return how long all attempts have taken so far."""
        spent = self.folder / "seconds"
        return sum(map(float, spent.read_text().split())) if spent.is_file() else 0.0

    @contextmanager
    def timed(self, progress: Progress, title: str) -> Iterator[Callable[[float, float], None]]:
        """Show a step, and keep how long it took even if it is stopped."""
        started = time.monotonic()
        try:
            with progress(title) as update:
                yield update
        finally:
            with (self.folder / "seconds").open("a") as spent:
                spent.write(f"{time.monotonic() - started}\n")


def build_kernel(
    *,
    tree: Path | None = None,
    series: str | None = None,
    jobs: int | None = None,
    force: bool = False,
    progress: Progress = lambda _title: nullcontext(lambda _done, _total: None),
) -> Kernel:
    """Build a kernel for virtual time, unless there is one of the same source, recipe and compiler.

    Parameters
    ----------
    tree
        A kernel's source tree, which is copied and not changed; Debian's package when None.
    series
        Series of Debian's package, "6.12" or "6.1"; the first that apt offers when None.
    jobs
        Files that are compiled at a time; as many as there are cores when None.
    force
        Build from the start, whatever is there.
    progress
        Opens the display of each step.

    Raises
    ------
    UserError
        The machine, the source or the cache cannot serve.
    RunError
        A program of the build failed. What was done before is kept for the next attempt.
    """
    chosen = _source(tree, series)
    root = cache.cache_folder()
    require_machine(cache.build_folder())
    recipe, compiler = recipe_hash(), compiler_version()
    identity = chosen.identity
    key = key_of(recipe=recipe, source=identity, compiler=compiler)
    kept = cache.kernel_in(cache.folder_of(key))
    if kept is not None and not force:
        return kept
    with only_builder(root) as note, _working(cache.work_folder(key), anew=force) as work:
        progress = _noted(progress, note)
        if not work.configured.is_file():
            _bring(chosen, work, progress)
            _prepare(work, progress)
        _compile(work, jobs or len(os.sched_getaffinity(0)), progress)
        return _install(
            work,
            Kernel(
                binary=cache.folder_of(key) / cache.BINARY,
                version=chosen.version,
                key=key,
                recipe=recipe,
                source=identity,
                compiler=compiler,
                seconds=round(work.seconds(), 1),
                bytes=(work.finished / cache.BINARY).stat().st_size,
                built_at=datetime.now(UTC).isoformat(),
            ),
        )


def _noted(progress: Progress, note: Note) -> Progress:
    """Let others know how far each step is, too."""

    @contextmanager
    def opened(title: str) -> Iterator[Callable[[float, float], None]]:
        note(title, 0.0)
        with progress(title) as update:

            def tell(done: float, total: float) -> None:
                note(title, done / total if total else 0.0)
                update(done, total)

            yield tell

    return opened


def _source(tree: Path | None, series: str | None) -> Package | Tree:
    if tree is not None and series is not None:
        raise UserError("--source names a tree, which has its own version: leave --version out")
    if tree is not None:
        return own_tree(tree)
    if series is not None and series not in SERIES:
        raise unknown("series of Linux", series, SERIES)
    return offered_package(series)


@contextmanager
def _working(folder: Path, *, anew: bool) -> Iterator[_Work]:
    """Give the folder of a build, which stays if the build does not come to its end."""
    if anew and folder.exists():
        shutil.rmtree(folder)
    is_elsewhere = folder.parent != cache.cache_folder()
    if is_elsewhere:
        # Everybody may write to the folder of temporary files.
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        if folder.parent.lstat().st_uid != os.getuid():
            raise UserError(f"{folder.parent}, where the kernel would be built, is another user's; remove it")
    folder.mkdir(exist_ok=True)
    work = _Work(folder)
    yield work
    shutil.rmtree(folder)
    if is_elsewhere:
        with suppress(OSError):
            folder.parent.rmdir()


def _bring(chosen: Package | Tree, work: _Work, progress: Progress) -> None:
    """Put the kernel's source into the work folder, unless it is there."""
    if work.tree.is_dir():
        return
    if isinstance(chosen, Tree):
        with work.timed(progress, f"copy {chosen.directory}"):
            copy(chosen, work.tree, work.log)
        return
    if not work.fetched.is_dir():
        with work.timed(progress, f"download {chosen.identity}") as update:
            for done, total in fetch(chosen, work.fetched, work.log):
                update(done, total)
    with work.timed(progress, "unpack") as update:
        for done, total in unpack(archive_in(work.fetched, work.log), work.tree, work.log):
            update(done, total)
    shutil.rmtree(work.fetched)


def _prepare(work: _Work, progress: Progress) -> None:
    """Make our changes and configure."""
    with work.timed(progress, "configure"):
        apply_edits(work.tree)
        add_driver(work.tree)
        configure(work.tree, work.log)
        work.configured.touch()


def _compile(work: _Work, jobs: int, progress: Progress) -> None:
    with work.timed(progress, f"compile, {jobs} files at a time") as update:
        # What earlier attempts did is no part of this one's work, from which the time left is judged.
        left = max(1, _EXPECTED_LINES - work.log.count(_COUNTED))
        done = 0
        for line in work.log.lines(["make", "ARCH=um", f"-j{jobs}", "linux"], work.tree):
            done += line.startswith(_COUNTED)
            update(min(done, left), left)
        work.finished.mkdir(exist_ok=True)
        work.log.run(["strip", "-o", str(work.finished / cache.BINARY), "linux"], work.tree)


def _install(work: _Work, kernel: Kernel) -> Kernel:
    """Let a finished kernel take its place whole."""
    cache.write_record(kernel, work.finished)
    place = kernel.binary.parent
    if place.exists():
        shutil.move(place, work.folder / "replaced")
    # A kernel that is not all there yet is none (`cache.kernel_in`).
    shutil.move(work.finished, place)
    return kernel
