"""Files that are there whole or not at all, and the one line that a full disk deserves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lossylink.errors import UserError


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a file beside ``path`` to write, which takes its place when the block ends well, or vanishes.

    What was written is on the disk before it takes its place. Its name until then is that of no other writer,
    on any machine that shares the file system.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "a.txt") as partial:
    ...         _ = partial.write_text("whole")
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('a.txt', 'whole')]
    """
    partial = path.with_name(f".{path.name}.{writer()}.partial")
    try:
        yield partial
        _sync(partial)
        partial.replace(path)
        _sync(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def writer() -> str:
    """Return a word that no other writer of a file has: machine, process, and a random part.

    Examples
    --------
    >>> writer() == writer()
    False
    """
    machine = re.sub(r"[^A-Za-z0-9]+", "-", os.uname().nodename)
    return f"{machine}-{os.getpid()}-{os.urandom(4).hex()}"


def _sync(path: Path) -> None:
    """Wait until the disk has a file, or the names in a directory."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def output_to(target: Path) -> Iterator[None]:
    """Turn what the system refuses to write into ``target`` into a line for the user.

    Examples
    --------
    >>> with output_to(Path("/proc/kept")):
    ...     Path("/proc/kept").mkdir()
    Traceback (most recent call last):
    lossylink.errors.UserError: cannot write to /proc/kept: No such file or directory; choose another --output
    """
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot write to {target}: {error.strerror or error}; choose another --output"
        ) from None
