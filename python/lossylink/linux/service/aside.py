"""Threads beside a data plane: without its privileges, and without its signals."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ParamSpec

from lossylink import _native
from lossylink.linux import signals

_P = ParamSpec("_P")


def start(work: Callable[_P, object], *arguments: _P.args, **options: _P.kwargs) -> None:
    """Run ``work`` in a thread that ends with the process.

    The thread, and those that it starts, have no privileges but the right to locked memory. The calling
    thread alone takes signals: another one would end the process, which the data plane drains.
    """

    def confined() -> None:
        _native.give_up_privileges()
        work(*arguments, **options)

    with signals.kept_from_new_threads():
        threading.Thread(target=confined, daemon=True).start()
