"""What a worker does: runs the points of a task with one thread, and writes shards of what has ended."""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from lossylink._package.code import code
from lossylink._package.writing import output_to
from lossylink.declared.job import Progress
from lossylink.errors import LossylinkError, UserError
from lossylink.running.run import Run
from lossylink.running.runner import run_scenario
from lossylink.running.sweeping import shards
from lossylink.running.sweeping.pieces import read_name, run_piece
from lossylink.running.sweeping.points import name_of
from lossylink.running.sweeping.until import Until, narrowing
from lossylink.scenario.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Task:
    """Points for one worker; it has all that is needed on another machine with the same file system."""

    points: tuple[tuple[str, Scenario], ...]
    """Name and resolved scenario of each point, or of a piece of a point."""
    folder: Path
    code: str
    """The code by which the points are named."""
    until: Until | None = None
    """When a figure is known well enough, if that decides how long a point is."""
    with_tables: bool = False
    """Whether tables of trials are kept, too."""
    keeps_going: bool = False
    """Whether a point that fails leaves the others alone."""

    @property
    def prefix(self) -> str:
        """What the names of its shards begin with, at every attempt."""
        names = json.dumps([self.with_tables, *(name for name, _ in self.points)])
        return hashlib.sha256(names.encode()).hexdigest()[:16]

    def single(self) -> list[Task]:
        """Return a task for each point."""
        return [replace(self, points=(point,)) for point in self.points]


@dataclass(frozen=True, kw_only=True)
class Done:
    """What became of a task: small, for it travels back."""

    paths: tuple[Path, ...] = ()
    """The shards that it wrote."""
    failed: tuple[tuple[str, str], ...] = ()
    """Name and error of each point that failed."""
    mistake: str = ""
    """What the user has to mend; it ends the sweep."""
    interrupted: bool = False
    """Whether it was stopped before its end."""


def _never() -> bool:
    return False


def do(task: Task, is_stopped: Callable[[], bool] = _never) -> Done:
    """Do a task; whatever happens to a point is told, and nothing is raised.

    Parameters
    ----------
    is_stopped
        Asked now and then; once it says so, the task writes what has ended and ends.
    """
    if task.code != code():
        where = socket.gethostname()
        words = f"a worker on {where} runs other code than this call; install the same lossylink there"
        return Done(mistake=f"{words}, or start the workers anew")

    def heed(_done: float, _total: float) -> None:
        if is_stopped():
            raise KeyboardInterrupt

    shard, failed = shards.Shard(task.folder, task.prefix), dict[str, str]()
    mistake, interrupted = "", False
    try:
        with output_to(task.folder.parent):
            _run(task, heed, shard, failed)
    except UserError as error:
        mistake = str(error)
    except KeyboardInterrupt:
        interrupted = True
    return Done(
        paths=tuple(shard.paths), failed=tuple(failed.items()), mistake=mistake, interrupted=interrupted
    )


def _run(task: Task, heed: Progress, shard: shards.Shard, failed: dict[str, str]) -> None:
    """Run the points that no earlier attempt has finished, and write them, whatever ends the task."""
    done = shards.begun(task.folder, task.prefix)
    try:
        for name, scenario in task.points:
            if name in done:
                continue
            result = _measure(task, name, scenario, heed)
            if isinstance(result, Run):
                shard.add_run(name, result, with_tables=task.with_tables)
            else:
                shard.add(result)
                failed |= {name: result.error} if result.error else {}
            if failed and not task.keeps_going:
                return
    finally:
        shard.write()


def _measure(task: Task, name: str, scenario: Scenario, heed: Progress) -> Run | shards.Finished:
    """Run one point, or a piece of one; gives its run, or what is to be written of a piece or an error."""
    point, piece = read_name(name)
    if name_of(scenario, task.until) != point:
        where = socket.gethostname()
        raise UserError(f"a point arrived as another one on {where}; install the same lossylink")
    heed(0.0, 1.0)
    try:
        if piece is not None:
            return shards.Finished(name, run_piece(scenario, piece, heed))
        backend = narrowing(scenario, task.until) if task.until is not None else None
        run = run_scenario(scenario, backend=backend, progress=heed)
    except UserError:
        raise
    except Exception as error:  # whatever it is, it is this point's, and other points have a right to run
        words = str(error) if isinstance(error, LossylinkError) else f"{type(error).__name__}: {error}"
        return shards.Finished(name, error=words)
    if run.interrupted:
        raise KeyboardInterrupt
    return run
