"""Tasks that Ctrl-C stops, in threads or one after another: those that had not begun are dropped."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

#: Longest time that Ctrl-C waits for the main thread, in seconds. Polars installs a signal handler that
#: restarts system calls, so a plain wait would never be woken.
POLL_SECONDS = 0.1

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_all(
    work: Callable[[Task, threading.Event], Result], tasks: Sequence[Task], *, threads: int
) -> tuple[list[Result], bool]:
    """Do ``work`` on every task; returns the results in the order of the tasks, and whether Ctrl-C came.

    ``work`` looks at its event now and then, and ends early when it is set. The first exception stops the
    others and is raised.
    """
    stop = threading.Event()
    waiting = deque(enumerate(tasks))
    results: dict[int, Result] = {}
    failures: list[BaseException] = []

    def serve() -> None:
        while not stop.is_set():
            try:
                place, task = waiting.popleft()
            except IndexError:
                return
            try:
                results[place] = work(task, stop)
            except BaseException as failure:
                failures.append(failure)
                stop.set()

    workers = [threading.Thread(target=serve, name=f"lossylink-{number}") for number in range(threads)]
    interrupted = False
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            while worker.is_alive():
                worker.join(POLL_SECONDS)
    except KeyboardInterrupt:
        interrupted = True
        stop.set()
        for worker in workers:
            if worker.ident is not None:
                worker.join()
    if failures:
        raise failures[0]
    return [results[place] for place in sorted(results)], interrupted


def run_in_turn(
    work: Callable[[Task, threading.Event], Result], tasks: Sequence[Task]
) -> tuple[list[Result], bool]:
    """Do ``work`` on every task in the caller's thread, which Ctrl-C reaches at once; else as `run_all`.

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
