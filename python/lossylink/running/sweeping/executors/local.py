"""Threads of this process: the simulator releases the interpreter's lock, so that they work side by side."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from lossylink.running.sweeping.executors._declaration import Asked, ExecutorKind, Workers
from lossylink.running.sweeping.task import do


@contextmanager
def _open(asked: Asked) -> Iterator[Workers]:
    stop = threading.Event()
    pool = ThreadPoolExecutor(asked.threads, thread_name_prefix="lossylink")
    try:
        yield Workers(
            submit=lambda tasks: [pool.submit(do, task, stop.is_set) for task in tasks], count=asked.threads
        )
    finally:
        # What runs writes what has ended, and ends.
        stop.set()
        pool.shutdown(cancel_futures=True)


EXECUTOR = ExecutorKind(open=_open)
