"""Who does the tasks of a sweep: a module each, which declares an ``EXECUTOR``; nothing else lists them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager

from lossylink.discovery import names_in
from lossylink.errors import UserError, unknown
from lossylink.sweeping.executors._declaration import Asked, ExecutorKind, Workers
from lossylink.sweeping.task import Done, Task, do


def names() -> list[str]:
    """Return the words for executors, without importing what they need.

    Examples
    --------
    >>> names()
    ['dask', 'local', 'slurm']
    """
    return names_in(sys.modules[__name__])


def open_workers(executor: str | Executor, asked: Asked) -> AbstractContextManager[Workers]:
    """Return workers of an executor: one of `names`, or any of ``concurrent.futures``.

    Raises
    ------
    UserError
        There is no such executor, its library is missing, or it has no use for what was asked.
    """
    if isinstance(executor, Executor):
        return _given(executor, asked)
    if executor not in names():
        raise unknown("executor", executor, names())
    kind = _kind(executor)
    for option in ("scheduler", "slurm"):
        if getattr(asked, option) and option not in kind.options:
            of = next(name for name in names() if option in _kind(name).options)
            raise UserError(f"--{option} is of --executor {of}, not of {executor}")
    return kind.open(asked)


def _kind(name: str) -> ExecutorKind:
    kind: ExecutorKind = importlib.import_module(f"{__name__}.{name}").EXECUTOR
    return kind


@contextmanager
def _given(executor: Executor, asked: Asked) -> Iterator[Workers]:
    """Use an executor of the caller, and leave it open."""
    futures: list[Future[Done]] = []

    def submit(tasks: Sequence[Task]) -> list[Future[Done]]:
        new = [executor.submit(do, task) for task in tasks]
        futures.extend(new)
        return new

    count = getattr(executor, "_max_workers", None) or asked.threads
    try:
        yield Workers(submit=submit, count=count)
    finally:
        for future in futures:
            future.cancel()


__all__ = ["Asked", "Workers", "names", "open_workers"]
