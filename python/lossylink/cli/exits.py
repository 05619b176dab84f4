"""How a command ends: its exit codes, and leaving with one of them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from lossylink import signals

#: Exit codes beside 0: a failed run, a mistake of the user, a stop by Ctrl-C or SIGTERM (128 + SIGINT).
FAILED, MISTAKE, INTERRUPTED = 1, 2, 130

#: A signal that comes so long after the first, in seconds, is a second wish; sooner, it is the first twice.
_AGAIN_SECONDS = 0.3

#: What tells the watcher to end: no signal has the number 0.
_END = b"\0"


def leave(code: int) -> NoReturn:
    """End the command with an exit code."""
    raise SystemExit(code)


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM end what runs as Ctrl-C does: what had finished is kept, and nothing is left behind.

    A second signal ends the process at once, whatever it does. A data plane takes both signals over, and
    drains. Python lets the main thread alone take signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with _second_signal_ends():
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _second_signal_ends() -> Iterator[None]:
    """Watch for signals in a thread of its own: the main thread may be in a call that answers none."""
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    before = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(told,), name="lossylink-signals", daemon=True)
    with signals.kept_from_new_threads():
        watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.write(tell, _END)
        watcher.join()
        os.close(tell)
        os.close(told)


def _watch(told: int) -> None:
    """End the process with the second signal; give up when nobody can tell of one any more."""
    first: float | None = None
    while _END not in (numbers := os.read(told, 64)):
        if not {signal.SIGINT, signal.SIGTERM} & set(numbers):
            continue
        now = time.monotonic()
        if first is not None and now - first >= _AGAIN_SECONDS:
            os.write(2, b"ended at once by a second signal; what was being written may be incomplete\n")
            os._exit(INTERRUPTED)
        first = now if first is None else first
