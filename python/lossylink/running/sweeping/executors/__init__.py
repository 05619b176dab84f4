"""Who does the tasks of a sweep: a module each, which declares an ``EXECUTOR``; nothing else lists them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager

from lossylink._package.discovery import names_in
from lossylink.errors import UserError, unknown
from lossylink.running.sweeping.executors._declaration import Asked, ExecutorKind, Workers
from lossylink.running.sweeping.task import Done, Task, do


def names() -> list[str]:
    """Return the words for executors, without importing what they need.

    Examples
    --------
    >>> names()
    ['dask', 'local', 'slurm']
    """
    return names_in(sys.modules[__name__])


def check_options(executor: str | Executor, asked: Asked) -> None:
    """Refuse an executor that does not exist, or options that mean nothing to it.

    Raises
    ------
    UserError
        One line that says which executor the option is of.
    """
    word = executor if isinstance(executor, str) else "one of your own"
    if isinstance(executor, str) and executor not in names():
        raise unknown("executor", executor, names())
    known = _kind(executor).options if isinstance(executor, str) else frozenset()
    for option in ("scheduler", "slurm"):
        if getattr(asked, option) and option not in known:
            of = next(name for name in names() if option in _kind(name).options)
            raise UserError(f"--{option} is of --executor {of}, not of {word}")


def open_workers(executor: str | Executor, asked: Asked) -> AbstractContextManager[Workers]:
    """Return workers of an executor: one of `names`, or any of ``concurrent.futures``.

    Raises
    ------
    UserError
        Its library is missing, or it cannot be reached.
    """
    if isinstance(executor, Executor):
        return _given(executor, asked)
    return _kind(executor).open(asked)


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

    try:
        yield Workers(submit=submit, count=getattr(executor, "_max_workers", None) or asked.threads)
    finally:
        for future in futures:
            future.cancel()


__all__ = ["Asked", "Workers", "check_options", "names", "open_workers"]
