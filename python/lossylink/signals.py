"""Which thread takes signals."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_from_new_threads() -> Iterator[None]:
    """Let threads that begin meanwhile take neither SIGTERM nor SIGINT.

    A thread inherits the signals that its parent blocks. The system gives a signal to any thread that does
    not block it. A data plane blocks both signals in the main thread and reads them there. In another thread
    a signal would be lost for the data plane.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
