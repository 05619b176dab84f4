"""Paths that the kernel's build and its command line can take: these end a path at a space or a colon."""

from __future__ import annotations

import tempfile
from pathlib import Path


def is_plain(path: Path) -> bool:
    """Return whether a path holds neither white space nor a colon.

    Examples
    --------
    >>> is_plain(Path("/home/ada")), is_plain(Path("/home/ada lovelace"))
    (True, False)
    """
    return not any(letter.isspace() or letter == ":" for letter in str(path.resolve()))


def temporary_folder() -> Path:
    """Return the folder of temporary files, or ``/tmp`` where the path of that one is not plain."""
    folder = Path(tempfile.gettempdir())
    return folder if is_plain(folder) else Path("/tmp")
