"""Tasks that Ctrl-C stops, in a pool of threads: those that had not begun are dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

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
    interrupted = False
    futures: list[Future[Result]] = []
    with ThreadPoolExecutor(threads, thread_name_prefix="lossylink") as pool:
        try:
            # Inside, for Ctrl-C may come here too; the pool would wait for tasks that nobody stops.
            futures.extend(pool.submit(work, task, stop) for task in tasks)
            _wait(futures, stop)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            stop.set()
            for future in futures:
                future.cancel()
    return [future.result() for future in futures if not future.cancelled()], interrupted


def _wait(futures: Sequence[Future[Any]], stop: threading.Event) -> None:
    """Wait for the last future or the first exception."""
    pending = set(futures)
    while pending and not stop.is_set():
        done, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_EXCEPTION)
        if any(future.exception() for future in done):
            stop.set()
