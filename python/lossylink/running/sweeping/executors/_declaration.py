"""What an executor declares about itself, and what it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from lossylink.errors import UserError
from lossylink.running.sweeping.task import Done, Task


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the user said about workers.

    Attributes
    ----------
    threads
        Points at a time on this machine.
    scheduler
        Address of a Dask scheduler.
    slurm
        Parameters of submitit.
    folder
        Where an executor may keep files of its own; it need not exist.
    """

    threads: int
    scheduler: str | None = None
    slurm: Mapping[str, str] = field(default_factory=dict)
    folder: Path


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Workers that are there, or on their way.

    Attributes
    ----------
    submit
        Takes tasks, and gives a future for each. A future that fails means that its worker died.
    count
        About how many tasks are done at a time.
    most_points
        Most points of a task: few lose little with a worker, many save the start of one.
    """

    submit: Callable[[Sequence[Task]], list[Future[Done]]]
    count: int
    most_points: int = 64


@dataclass(frozen=True, kw_only=True)
class ExecutorKind:
    """A way to have tasks done.

    Attributes
    ----------
    name
        As users write it.
    options
        The members of `Asked`, beyond ``threads``, that mean something to it.
    open
        Gives workers. When its block ends, tasks that have not ended are dropped, and workers that it started
        end; what they have written stays.
    """

    name: str
    options: frozenset[str] = frozenset()
    open: Callable[[Asked], AbstractContextManager[Workers]]


def missing(extra: str, error: ImportError) -> UserError:
    """Return the error for an executor whose library is not installed."""
    return UserError(f"--executor {extra} needs {error.name}; pip install 'lossylink[{extra}]'")
