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
    """What the user said about workers."""

    threads: int
    """Points at a time on this machine."""
    scheduler: str | None = None
    """Address of a Dask scheduler."""
    slurm: Mapping[str, str] = field(default_factory=dict)
    """Parameters of submitit."""
    folder: Path
    """Where an executor may keep files of its own; it need not exist."""


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Workers that are there, or on their way."""

    submit: Callable[[Sequence[Task]], list[Future[Done]]]
    """Takes tasks, and gives a future for each. A future that fails means that its worker died."""
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
