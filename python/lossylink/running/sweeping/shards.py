"""Shards: Parquet files of finished points, each there whole or not at all, whoever writes them.

A shard has a line for each point: its name, and its result as JSON or the error that it ended with. The
tables of its points stand in files beside it, which are there before it is. Readers know a point by its name
alone, so that it does not matter how points were shared out, or that one was run twice.
"""

from __future__ import annotations

import io
import itertools
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars

from lossylink._package.writing import whole, writer
from lossylink.running.run import Run
from lossylink.running.sweeping.percentiles import intervals_of
from lossylink.running.sweeping.pieces import in_pieces, put_together, read_name
from lossylink.scenario.scenario import Scenario

FOLDER = "points"
"""Where shards are, below the directory of a sweep."""
POINT = "point"
"""The column with the name of a point."""
LEFT_OVER_SECONDS = 86_400
"""Files of a writer that died are removed after so long."""
SHARD_SECONDS = 1.0
"""Points wait for so long at most until they are written: what is lost with a worker is younger."""
LISTINGS = 3
"""A folder is listed so often at most, if shards go while they are read."""

_DAMAGED = (OSError, ValueError, KeyError, polars.exceptions.PolarsError)
_SCHEMA = {POINT: polars.String, "summary": polars.String, "error": polars.String, "tables": polars.String}

#: Key of a point's summary under which intervals of percentiles stand, row by row.
INTERVALS = "percentile_intervals"


@dataclass(frozen=True)
class Finished:
    """A point as it ended: its result, or the error that it ended with."""

    name: str
    summary: str = ""
    error: str = ""
    tables: tuple[str, ...] | None = None
    """The tables that are kept of it; nothing if nobody asked for tables."""
    path: Path = Path()
    """The shard, once it is written; tables stand beside it."""

    @property
    def rank(self) -> tuple[bool, bool]:
        """Which of two ends of a point says more."""
        return not self.error, self.tables is not None

    def is_usable(self, *, with_tables: bool) -> bool:
        """Whether there is a result, and the tables if these are wanted."""
        return not self.error and (self.tables is not None or not with_tables)

    def run(self, *, with_intervals: bool = False) -> Run:
        """Return the run, with its tables where they are kept; its rows may have intervals of percentiles."""
        summary = json.loads(self.summary)
        summary["rows"] = self.rows() if with_intervals else summary["rows"]
        summary.pop(INTERVALS, None)
        return Run.of_summary(summary, tables={name: self.table(name) for name in self.tables or ()})

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the run, with intervals of percentiles."""
        summary = json.loads(self.summary)
        intervals = summary.get(INTERVALS) or [{}] * len(summary["rows"])
        return [row | more for row, more in zip(summary["rows"], intervals, strict=True)]

    def table(self, name: str) -> polars.DataFrame:
        """Return a table of the point."""
        frame = polars.read_parquet(_table_path(self.path, name))
        return frame.filter(polars.col(POINT) == self.name).drop(POINT)


@dataclass
class Shard:
    """Points that wait to be written, and the paths of the shards that were."""

    folder: Path
    prefix: str
    paths: list[Path] = field(default_factory=list)
    _lines: list[Finished] = field(default_factory=list)
    _frames: dict[str, list[polars.DataFrame]] = field(default_factory=dict)
    _written: float = field(default_factory=time.monotonic)

    def add_run(self, name: str, run: Run, *, with_tables: bool) -> None:
        """Take the run of a point."""
        frames = {
            kind: frame.select(polars.lit(name).alias(POINT), *frame.columns)
            for kind, frame in (run.tables if with_tables else {}).items()
        }
        # A file has tables of one schema, which compares the order of columns as well.
        if any(
            self._frames[kind][0].schema != frames[kind].schema for kind in frames if kind in self._frames
        ):
            self.write()
        for kind, frame in frames.items():
            self._frames.setdefault(kind, []).append(frame)
        summary = json.dumps({**run.summary(), INTERVALS: intervals_of(run)}, allow_nan=False)
        self.add(Finished(name, summary, tables=tuple(frames) if with_tables else None))

    def add(self, one: Finished) -> None:
        """Take a line whose tables are there, or that has none."""
        self._lines.append(one)
        if time.monotonic() - self._written > SHARD_SECONDS:
            self.write()

    def write(self) -> None:
        """Write what waits, tables first."""
        if self._lines:
            path = self.folder / f"{self.prefix}-{writer()}.parquet"
            for kind, frames in self._frames.items():
                _write(polars.concat(frames), _table_path(path, kind))
            _write(_frame(self._lines), path)
            self.paths.append(path)
        self._lines, self._frames, self._written = [], {}, time.monotonic()


def read(
    folder: Path, wanted: Iterable[str] | None = None, *, beside: Iterable[Path] = ()
) -> dict[str, Finished]:
    """Return the points of a folder by name: all, or the wanted ones; a damaged file counts as none.

    Where a point is there more than once, a result wins over an error, and one with tables over one without.
    A network file system may list a new file late: ``beside`` are shards that are known to be there.
    """
    names = None if wanted is None else set(wanted)
    found: dict[str, Finished] = {}
    for _ in range(LISTINGS):
        listed = sorted({*paths(folder), *beside})
        for one in (one for path in listed for one in read_shard(path)):
            if names is None or one.name in names:
                found[one.name] = max(found.get(one.name, one), one, key=lambda each: each.rank)
        if all(path.exists() for path in listed):
            break
        # Another client has put them into one: that one is there by now.
        found = {name: one for name, one in found.items() if one.path.exists()}
    return found


def paths(folder: Path, prefix: str = "") -> list[Path]:
    """Return the shards of a folder, without the tables beside them."""
    return sorted(path for path in folder.glob(f"{prefix}*.parquet") if path.name.count(".") == 1)


def read_shard(path: Path) -> list[Finished]:
    """Return the points of one shard whose tables are there."""
    try:
        lines = polars.read_parquet(path, schema=_SCHEMA).rows()
    except _DAMAGED:
        return []
    found = [
        Finished(name, summary, error, None if kinds is None else tuple(filter(None, kinds.split(","))), path)
        for name, summary, error, kinds in lines
    ]
    return [one for one in found if all(_table_path(path, kind).is_file() for kind in one.tables or ())]


def begun(folder: Path, prefix: str = "") -> set[str]:
    """Return the names of the points, and pieces of points, that earlier attempts have finished.

    With the ``prefix`` of a task only attempts at that task count.
    """
    return {one.name for path in paths(folder, prefix) for one in read_shard(path) if not one.error}


def compact(folder: Path, names: Sequence[str]) -> None:
    """Put points without tables into one shard, those of ``names`` first, in place of many.

    The shards that it takes the place of go once it is there, and errors with them.
    """
    of_path = {path: read_shard(path) for path in paths(folder)}
    going = {path for path, lines in of_path.items() if lines and not any(line.tables for line in lines)}
    kept = read(folder)
    # Pieces of a point that is whole are of no use any more.
    useful = {name for name in kept if read_name(name) == (name, None) or read_name(name)[0] not in kept}
    order = [name for name in dict.fromkeys([*names, *sorted(kept)]) if name in useful]
    lines = [kept[name] for name in order if kept[name].path in going and not kept[name].error]
    if len(going) > 1:
        _write(_frame(lines), folder / f"all-{writer()}.parquet")
        for path in going:
            path.unlink(missing_ok=True)
    for partial in folder.glob(".*.partial"):
        with suppress(FileNotFoundError):
            if partial.stat().st_mtime < time.time() - LEFT_OVER_SECONDS:
                partial.unlink()


def gather(
    scenarios: Mapping[str, Scenario], folder: Path, beside: Iterable[Path], *, with_tables: bool
) -> list[Path]:
    """Put together the points whose pieces are all there, and write them like others; gives the new shards.

    Parameters
    ----------
    scenarios
        Those of the points, by name.
    beside
        Shards that are known to be there.
    with_tables
        Whether tables are kept.
    """
    pieces = {name: [one for one, _ in in_pieces(name, scenario)] for name, scenario in scenarios.items()}
    wanted = {*pieces, *itertools.chain(*pieces.values())}
    kept = {name: one for name, one in read(folder, wanted, beside=beside).items() if not one.error}
    shard = Shard(folder, "gathered")
    for name, of_point in pieces.items():
        is_there = name in kept and kept[name].is_usable(with_tables=with_tables)
        if of_point != [name] and not is_there and all(piece in kept for piece in of_point):
            run = put_together(scenarios[name], [kept[piece].summary for piece in of_point])
            shard.add_run(name, run, with_tables=with_tables)
    shard.write()
    return shard.paths


def drop_others(folder: Path, names: Sequence[str]) -> None:
    """Remove points that are none of ``names``: whole shards of such, with their tables."""
    wanted = set(names)
    for path in paths(folder):
        lines = read_shard(path)
        if not any(read_name(line.name)[0] in wanted for line in lines):
            for kind in {kind for line in lines for kind in line.tables or ()}:
                _table_path(path, kind).unlink(missing_ok=True)
            path.unlink(missing_ok=True)


def table(points: Iterable[tuple[Mapping[str, Any], Finished]], kind: str) -> polars.DataFrame | None:
    """Return a table of many points, the place of each in front, in their order; nothing if no point has it.

    It does not depend on how the points were shared out.
    """
    having = [(place, point) for place, point in points if kind in (point.tables or ())]
    of_path = {
        path: polars.read_parquet(_table_path(path, kind)).partition_by(
            POINT, as_dict=True, maintain_order=True, include_key=False
        )
        for path in {point.path for _, point in having}
    }
    frames = []
    for place, point in having:
        if (frame := of_path[point.path].get((point.name,))) is not None:
            keys = [polars.lit(value).alias(key) for key, value in place.items()]
            frames.append(frame.select(*keys, *(name for name in frame.columns if name not in place)))
    return polars.concat(frames, how="diagonal_relaxed", rechunk=True) if frames else None


def _frame(lines: Sequence[Finished]) -> polars.DataFrame:
    kinds = [None if one.tables is None else ",".join(one.tables) for one in lines]
    rows = [(one.name, one.summary, one.error, some) for one, some in zip(lines, kinds, strict=True)]
    return polars.DataFrame(rows, schema=_SCHEMA, orient="row")


def _table_path(path: Path, kind: str) -> Path:
    return path.with_name(f"{path.stem}.{kind}.parquet")


def _write(frame: polars.DataFrame, path: Path) -> None:
    content = io.BytesIO()
    frame.write_parquet(content)
    with whole(path) as partial:
        partial.write_bytes(content.getbuffer())
