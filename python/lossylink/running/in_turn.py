"""Tasks that Ctrl-C stops, one after another in the caller's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_in_turn(
    work: Callable[[Task, threading.Event], Result], tasks: Sequence[Task]
) -> tuple[list[Result], bool]:
    """Do ``work`` on every task in the caller's thread, which Ctrl-C reaches at once; see `pool.run_all`.

    A task that sets the event is the last one.
    """
    stop = threading.Event()
    results: list[Result] = []
    try:
        for task in tasks:
            results.append(work(task, stop))
            if stop.is_set():
                break
    except KeyboardInterrupt:
        return results, True
    return results, False
