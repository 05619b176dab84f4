"""News of a sweep: how far it is, and the rows of what has ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lossylink.declared.job import Progress
from lossylink.running.sweeping import shards
from lossylink.running.sweeping.pieces import share_of
from lossylink.running.sweeping.points import Point
from lossylink.running.sweeping.result import rows_of
from lossylink.running.sweeping.task import Done, Task

#: Called with the experiment, and rows of points that have just ended, from the caller's thread.
Watch = Callable[[str, Sequence[dict[str, Any]]], None]


class Told:
    """Tells the caller what has ended."""

    def __init__(
        self, points: Sequence[Point], *, before: int, progress: Progress | None, watch: Watch | None
    ) -> None:
        self._places = {point.name: point.place for point in points}
        self._experiment = points[0].scenario.experiment.name if points else ""
        self._done, self._total = float(before), before + len(points)
        self._progress, self._watch = progress, watch
        self.paths: list[Path] = []
        """The shards that were written."""

    def tell(self, task: Task, done: Done) -> None:
        """Take the news of a task."""
        self._done += sum(share_of(name, scenario) for name, scenario in task.points)
        if self._progress is not None:
            self._progress(self._done, self._total)
        self.take(done.paths)

    def take(self, paths: Sequence[Path]) -> None:
        """Take new shards, and tell the rows of the points in them; pieces have none."""
        self.paths += paths
        if self._watch is None:
            return
        ended = (one for path in paths for one in shards.read_shard(path))
        whole = [one for one in ended if not one.error and one.name in self._places]
        rows = [row for one in whole for row in rows_of(self._places[one.name], one.rows())]
        self._watch(self._experiment, rows)
