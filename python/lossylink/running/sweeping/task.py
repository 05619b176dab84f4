"""What a worker does: runs the points of a task with one thread, and writes shards of what has ended."""

from __future__ import annotations

import hashlib
import json
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lossylink._package.code import code
from lossylink._package.writing import output_to
from lossylink.errors import LossylinkError, UserError
from lossylink.running.run import Run
from lossylink.running.runner import run_scenario
from lossylink.running.sweeping import shards
from lossylink.running.sweeping.narrowing import narrowing
from lossylink.running.sweeping.pieces import read_name, run_piece
from lossylink.running.sweeping.points import name_of
from lossylink.running.sweeping.until import Until
from lossylink.scenario.scenario import Scenario

SHARD_SECONDS = 1.0
"""A worker writes what has ended at least so often: what is lost with it is younger."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """Points for one worker; it has all that is needed on another machine with the same file system.

    Attributes
    ----------
    points
        Name and resolved scenario of each point, or of a piece of a point.
    code
        The code by which the points are named.
    until
        When a figure is known well enough, if that decides how long a point is.
    with_tables
        Whether tables of trials are kept, too.
    keeps_going
        Whether a point that fails leaves the others alone.
    """

    points: tuple[tuple[str, Scenario], ...]
    folder: Path
    code: str
    until: Until | None = None
    with_tables: bool = False
    keeps_going: bool = False

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
    """What became of a task: small, for it travels back.

    Attributes
    ----------
    paths
        The shards that it wrote.
    failed
        Name and error of each point that failed.
    mistake
        What the user has to mend; it ends the sweep.
    interrupted
        Whether it was stopped before its end.
    """

    paths: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    mistake: str = ""
    interrupted: bool = False


def tasks_of(points: Sequence[tuple[str, Scenario]], size: int, pattern: Task) -> list[Task]:
    """Share points, or pieces of them, out into tasks like ``pattern``; equal ones run once."""
    once = list(dict(points).items())
    groups = [once[first : first + size] for first in range(0, len(once), size)]
    return [replace(pattern, points=tuple(group)) for group in groups]


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
    work = _Work(task, is_stopped)
    try:
        with output_to(task.folder.parent):
            work.run()
    except UserError as error:
        work.mistake = str(error)
    return Done(
        paths=tuple(work.paths),
        failed=tuple(work.failed),
        mistake=work.mistake,
        interrupted=work.interrupted,
    )


class _Work:
    """A task under way."""

    def __init__(self, task: Task, is_stopped: Callable[[], bool]) -> None:
        self._task = task
        self._is_stopped = is_stopped
        self._shard = shards.Shard(task.folder, task.prefix)
        self.paths: list[str] = []
        self.failed: list[tuple[str, str]] = []
        self.mistake = ""
        self.interrupted = False

    def run(self) -> None:
        """Run the points that no earlier attempt has finished, until the last or a reason to stop."""
        done = shards.begun(self._task.folder, self._task.prefix)
        written = time.monotonic()
        for name, scenario in self._task.points:
            if name in done:
                continue
            if not self._run_point(name, scenario):
                break
            if time.monotonic() - written > SHARD_SECONDS:
                self.paths += self._shard.write()
                written = time.monotonic()
        self.paths += self._shard.write()

    def _run_point(self, name: str, scenario: Scenario) -> bool:
        """Run one point; returns whether to go on with the next."""
        task = self._task
        point, piece = read_name(name)
        if name_of(scenario, task.until) != point:
            self.mistake = (
                f"a point arrived as another one on {socket.gethostname()}; install the same lossylink"
            )
            return False
        try:
            if piece is not None:
                self._shard.add_piece(name, run_piece(scenario, piece, self._heed))
                return True
            run = self._measure(scenario)
        except UserError as error:
            self.mistake = str(error)
            return False
        except KeyboardInterrupt:
            run = None
        except Exception as error:  # whatever it is, it is this point's, and other points have a right to run
            words = str(error) if isinstance(error, LossylinkError) else f"{type(error).__name__}: {error}"
            self.failed.append((name, words))
            self._shard.add_error(name, words)
            return task.keeps_going
        if run is None:
            self.interrupted = True
            return False
        self.paths += self._shard.add(name, run, with_tables=task.with_tables)
        return True

    def _measure(self, scenario: Scenario) -> Run | None:
        """Run a scenario; nothing if it was stopped."""
        if self._is_stopped():
            return None
        backend = narrowing(scenario, self._task.until) if self._task.until is not None else None
        run = run_scenario(scenario, backend=backend, progress=self._heed)
        return None if run.interrupted else run

    def _heed(self, _done: float, _total: float) -> None:
        """End a simulation that is under way once the task is stopped."""
        if self._is_stopped():
            raise KeyboardInterrupt
