"""Signals: SIGTERM ends a command as Ctrl-C does, and a second signal ends the process at once."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

#: Exit code of a process that a signal ended: 128 + SIGINT.
INTERRUPTED: Final = 130

#: A signal that comes so long after the first, in seconds, is a second wish; sooner, it is the first twice.
_AGAIN_SECONDS: Final = 0.3

#: What tells the watcher to end: no signal has the number 0.
_END: Final = b"\0"

_watch: Final = ExitStack()
"""Ends the watch for a second signal, where there is one."""


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM end what runs as Ctrl-C does: what had finished is kept, and nothing is left behind.

    A second signal ends the process at once, whatever it does. Python lets the main thread alone take
    signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with _watch:
            _watch.enter_context(_second_signal_ends())
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def leave_to_data_plane() -> None:
    """End the watch for a second signal.

    A data plane that runs in this process takes both signals itself, and drains. It keeps the privileges
    that it needs, in each of its threads, and the watcher would keep them all.
    """
    _watch.close()


@contextmanager
def kept_from_new_threads() -> Iterator[None]:
    """Let threads that begin meanwhile take neither SIGTERM nor SIGINT.

    A thread inherits the signals that its parent blocks. The system gives a signal to any thread that does
    not block it, and a main thread that waits in a system call would not learn of it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _second_signal_ends() -> Iterator[None]:
    """Watch for signals in a thread of its own: the main thread may be in a call that answers none."""
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    before = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch_for_second, args=(told,), name="lossylink-signals", daemon=True)
    with kept_from_new_threads():
        watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.write(tell, _END)
        watcher.join()
        os.close(tell)
        os.close(told)


def _watch_for_second(told: int) -> None:
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
