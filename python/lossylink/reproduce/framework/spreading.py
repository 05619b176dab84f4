"""Has the points of a reproduction done by an executor of sweeps, before they are looked at one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lossylink._package.code import code
from lossylink.reproduce.framework.model import Job
from lossylink.reproduce.framework.points import PointStore
from lossylink.reproduce.framework.resuming import scenario_of
from lossylink.reproduce.framework.runner import Report
from lossylink.running.sweeping import shards
from lossylink.running.sweeping.executors import Asked
from lossylink.running.sweeping.points import Point, name_of
from lossylink.running.sweeping.running import run_missing
from lossylink.running.sweeping.task import Done, Task


def spread(
    jobs: Sequence[Job],
    store: PointStore,
    *,
    seed: int,
    executor: str,
    asked: Asked,
    report: Report,
) -> bool:
    """Have an executor do every point that the store lacks; returns whether Ctrl-C came.

    A point that fails stays out of the store: who asks for it next runs it, and meets its error.

    Parameters
    ----------
    asked
        Its folder holds the shards of workers until their points are in the store.
    """
    folder = asked.folder / "shards"
    folder.mkdir(parents=True, exist_ok=True)
    scenarios = [scenario_of(job, (one,), seed + job.seed_offset) for job in jobs for one in job.protections]
    points = {name_of(scenario, None): scenario for scenario in scenarios}

    finished = 0

    def keep(path: Path) -> None:
        for one in shards.read_shard(path):
            if one.name in points and not one.error:
                store.keep(points[one.name], one.run())
        for file in folder.glob(f"{path.stem}.*"):
            file.unlink()

    def tell(task: Task, done: Done) -> None:
        nonlocal finished
        for path in done.paths:
            keep(folder / path.name)
        finished += len(task.points)
        report(finished, len(points))

    # What workers wrote for a call that was killed.
    for path in shards.paths(folder):
        keep(path)
    missing = [Point({}, scenario, name) for name, scenario in points.items() if store.look(scenario) is None]
    finished = len(points) - len(missing)
    pattern = Task(points=(), folder=folder.resolve(), code=code(), with_tables=True, keeps_going=True)
    return run_missing(missing, pattern, executor, asked, tell).interrupted
