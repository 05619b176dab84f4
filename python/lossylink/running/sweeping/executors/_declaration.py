"""What an executor declares about itself, and what it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lossylink.errors import UserError
from lossylink.running.pool import POLL_SECONDS
from lossylink.running.sweeping.task import Done, Task


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the user said about workers."""

    threads: int
    """Points at a time on this machine."""
    scheduler: str | None = None
    """Address of a Dask scheduler."""
    slurm: Mapping[str, str] = field(default_factory=dict)
    """Parameters of submitit."""
    folder: Path
    """Where an executor may keep files of its own; it need not exist."""


def _wait(futures: Collection[Future[Done]]) -> set[Future[Done]]:
    # Briefly: Ctrl-C reaches nobody who waits in a system call that polars lets restart.
    return wait(futures, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED).done


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Workers that are there, or on their way."""

    submit: Callable[[Sequence[Task]], list[Future[Done]]]
    """Takes tasks, and gives a future for each, or a job that has a ``result`` as a future has. A result that
    fails means that its worker died."""
    wait: Callable[[Collection[Any]], set[Any]] = _wait
    """Waits a moment, until one of some futures has ended; gives those that have."""
    count: int
    """About how many tasks are done at a time."""
    most_points: int = 64
    """Most points of a task: few lose little with a worker, many save the start of one."""


@dataclass(frozen=True, kw_only=True)
class ExecutorKind:
    """A way to have tasks done, called after its module."""

    options: frozenset[str] = frozenset()
    """The members of `Asked`, beyond ``threads``, that mean something to it."""
    open: Callable[[Asked], AbstractContextManager[Workers]]
    """Gives workers. When its block ends, tasks that have not ended are dropped, and workers that it started
    end; what they have written stays."""


def missing(extra: str, error: ImportError) -> UserError:
    """Return the error for an executor whose library is not installed."""
    return UserError(f"--executor {extra} needs {error.name}; pip install 'lossylink[{extra}]'")
