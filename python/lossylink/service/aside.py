"""Threads beside a data plane: without its privileges, and without its signals."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import ParamSpec

_P = ParamSpec("_P")


def start(work: Callable[_P, object], *arguments: _P.args, **options: _P.kwargs) -> None:
    """Run ``work`` in a thread that ends with the process.

    The thread, and those that it starts, have no privileges but the right to locked memory. The calling
    thread alone takes signals: another one would end the process, which the data plane drains.
    """

    def confined() -> None:
        from lossylink import _native

        _native.give_up_privileges()
        work(*arguments, **options)

    asked = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, asked)
    threading.Thread(target=confined, daemon=True).start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, asked)
