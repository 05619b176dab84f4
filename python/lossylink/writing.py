"""Files that are there whole or not at all, and the one line that a full disk deserves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lossylink.errors import UserError


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a file beside ``path`` to write, which takes its place when the block ends well, or vanishes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "a.txt") as partial:
    ...         _ = partial.write_text("whole")
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('a.txt', 'whole')]
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


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
