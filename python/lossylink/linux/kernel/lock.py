"""One build at a time: who holds the cache of kernels says since when, and how far the build is."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lossylink.errors import UserError

#: The file that is locked, and that says what its holder does.
LOCK: Final = "lock"

#: A holder says how far it is no more often than this, in seconds.
_PAUSE_SECONDS: Final = 0.5

#: Says which step runs, and which share of it is done.
Note = Callable[[str, float], None]


@contextmanager
def only_builder(root: Path) -> Iterator[Note]:
    """Hold the cache in a folder against other builds until the block ends; gives what notes how far it is.

    Raises
    ------
    UserError
        A build runs at present, or the cache cannot be written.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        handle = os.open(root / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UserError(
            f"cannot write to {root}: {error.strerror}; set XDG_CACHE_HOME to another folder"
        ) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told = _told(handle)
            raise UserError(
                f"another build of a kernel runs in {root}{told}; wait for it, or end it"
            ) from None
        yield _notes_to(handle)
    finally:
        os.close(handle)


def _notes_to(handle: int) -> Note:
    started, noted = time.time(), float("-inf")
    last = ""

    def note(step: str, share: float) -> None:
        nonlocal noted, last
        now = time.monotonic()
        if step == last and now - noted < _PAUSE_SECONDS:
            return
        noted, last = now, step
        text = json.dumps({"process": os.getpid(), "started": started, "step": step, "share": share})
        # A reader that comes between these two finds an empty file, and tells nothing.
        os.ftruncate(handle, 0)
        os.pwrite(handle, text.encode(), 0)

    return note


def _told(handle: int) -> str:
    """Return what the holder says of itself; nothing where it has said nothing yet."""
    try:
        said = json.loads(os.pread(handle, 4096, 0))
        since = time.strftime("%H:%M:%S", time.localtime(said["started"]))
        minutes = (time.time() - said["started"]) / 60
        who = f" since {since} ({minutes:.1f} min, process {said['process']})"
        return f"{who}: {said['step']}, {said['share']:.0%}"
    except (ValueError, KeyError, TypeError):
        return ""
