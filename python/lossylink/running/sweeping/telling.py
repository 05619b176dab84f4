"""News of a sweep: how far it is, and the rows of what has ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lossylink.declared.job import Progress
from lossylink.running.sweeping import shards
from lossylink.running.sweeping.pieces import pieces_of, read_name
from lossylink.running.sweeping.points import Point
from lossylink.running.sweeping.result import rows_of
from lossylink.running.sweeping.task import Done, Task
from lossylink.scenario.scenario import Scenario

#: Called with the experiment, and rows of points that have just ended, from the caller's thread.
Watch = Callable[[str, Sequence[dict[str, Any]]], None]


class Told:
    """Tells the caller what has ended."""

    def __init__(
        self, points: Sequence[Point], *, before: int, progress: Progress | None, watch: Watch | None
    ) -> None:
        self._places: dict[str, list[dict[str, Any]]] = {}
        for point in points:
            self._places.setdefault(point.name, []).append(point.place)
        self._total = before + len(points)
        self._open = set(self._places)
        self._done = float(before)
        self._seen: set[str] = set()
        self._experiment = points[0].scenario.experiment.name if points else ""
        self._progress = progress
        self._watch = watch
        self.paths: list[Path] = []
        """The shards that were written."""

    def tell(self, task: Task, done: Done) -> None:
        """Take the news of a task."""
        for name, scenario in task.points:
            self._count(name, scenario)
        if self._progress is not None:
            self._progress(self._done, self._total)
        self.take([Path(path) for path in done.paths])

    def take(self, paths: Sequence[Path]) -> None:
        """Take new shards, and tell the rows of the points in them; pieces have none."""
        self.paths += paths
        if self._watch is None:
            return
        ended = (one for path in paths for one in shards.read_shard(path))
        whole = [one for one in ended if not one.error and one.name in self._places]
        self._watch(
            self._experiment,
            [row for one in whole for place in self._places[one.name] for row in rows_of(place, one.rows())],
        )

    def _count(self, name: str, scenario: Scenario) -> None:
        """Count a point, or the share of it that a piece is."""
        point, piece = read_name(name)
        if name in self._seen or point not in self._open:
            return
        self._seen.add(name)
        share = 1.0
        if piece is not None:
            share = piece.blocks / sum(one.blocks for one in pieces_of(scenario))
        self._done += share * len(self._places[point])
