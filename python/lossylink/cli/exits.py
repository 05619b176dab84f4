"""How a command ends: its exit codes, and leaving with one of them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

#: Exit codes beside 0: a failed run, a mistake of the user, a stop by Ctrl-C or SIGTERM (128 + SIGINT).
FAILED, MISTAKE, INTERRUPTED = 1, 2, 130


def leave(code: int) -> NoReturn:
    """End the command with an exit code."""
    raise SystemExit(code)


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM end what runs as Ctrl-C does: what had finished is kept, and nothing is left behind.

    A data plane takes both signals over, and drains. Python lets the main thread alone take signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
