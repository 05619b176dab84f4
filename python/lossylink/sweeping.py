"""A grid of settings, run in parallel; a finished point is a file, so a sweep goes on where it was left."""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars

from lossylink import _native
from lossylink.errors import UserError
from lossylink.job import Progress
from lossylink.manifest import manifest
from lossylink.parquet import ROWS, write_table
from lossylink.pool import run_all
from lossylink.results import jsonable
from lossylink.run_directory import MANIFEST, write_json
from lossylink.runner import run_scenario
from lossylink.scenario import Scenario, resolve

#: Most points of one sweep: beyond it a grid is a slip of the keyboard.
MAX_POINTS = 100_000


@dataclass(frozen=True)
class Sweep:
    """What a sweep gave: every row of every finished point, the grid's keys in front."""

    experiment: str
    grid: dict[str, list[Any]]
    rows: polars.DataFrame
    directory: Path
    points: int
    finished: int
    resumed: int
    interrupted: bool

    def summary(self) -> dict[str, Any]:
        """Return the JSON object that ``--json`` prints and ``summary.json`` holds."""
        return {
            "experiment": self.experiment,
            "version": _native.version(),
            "grid": self.grid,
            "points": self.points,
            "finished": self.finished,
            "interrupted": self.interrupted,
            "rows": [jsonable(row) for row in self.rows.to_dicts()],
        }


@dataclass(frozen=True)
class _Point:
    """One combination of the grid's values."""

    place: dict[str, Any]
    scenario: Scenario
    path: Path


def sweep(
    what: str | Path,
    *,
    grid: Mapping[str, Sequence[Any]],
    protection: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    output: Path | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Run every combination of the grid's values that is not in ``output`` already.

    Parameters
    ----------
    grid
        Values by key: any key of a scenario, ``protection`` or ``seed``.
    output
        Directory of the sweep; by default one named after what is asked, so that asking again resumes.
    threads
        Points at a time; all cores by default.

    Raises
    ------
    UserError
        A combination cannot be run; told before the first one begins.
    """
    count = threads or len(os.sched_getaffinity(0))
    if count < 1:
        raise UserError(f"threads = {threads}: use at least 1")
    combinations = _combinations(grid)
    scenarios = [
        _resolve_point(what, combination, protection=protection, settings=settings, seed=seed)
        for combination in combinations
    ]
    directory = output or _default_directory(scenarios)
    points = [
        _Point(
            combination, scenario, directory / "points" / f"{scenario.fingerprint(_native.version())}.json"
        )
        for combination, scenario in zip(combinations, scenarios, strict=True)
    ]
    _prepare(directory)
    resumed = sum(point.path.is_file() for point in points)
    interrupted = _run_missing([point for point in points if not point.path.is_file()], count, progress)
    result = _collect(scenarios[0].experiment.name, grid, points, directory, resumed, interrupted)
    _write(result, seeds=list(dict.fromkeys(scenario.seed for scenario in scenarios)))
    return result


def _combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    total = 1
    for key, values in grid.items():
        if not values:
            raise UserError(f"the grid key {key} has no values")
        total *= len(values)
    if not grid or total > MAX_POINTS:
        raise UserError(f"the grid has {total if grid else 0} points; a sweep has 1 to {MAX_POINTS}")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _resolve_point(
    what: str | Path,
    combination: dict[str, Any],
    *,
    protection: Sequence[str] | None,
    settings: Mapping[str, Any] | None,
    seed: int | None,
) -> Scenario:
    """Resolve one combination; its own protection and seed win over the sweep's."""
    chosen = dict(settings or {})
    own = dict(combination)
    if "protection" in own:
        protection = [str(own.pop("protection"))]
    if "seed" in own:
        seed = _whole(own.pop("seed"))
    chosen |= own
    chosen["run.threads"] = 1
    return resolve(what, settings=chosen, protection=protection, seed=seed)


def _whole(value: Any) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise UserError(f"seed = {value} is not a whole number") from None


def _default_directory(scenarios: Sequence[Scenario]) -> Path:
    digest = scenarios[0].fingerprint(",".join(scenario.fingerprint("") for scenario in scenarios))
    return Path("runs") / f"sweep-{scenarios[0].experiment.name}-{digest[:8]}"


def _prepare(directory: Path) -> None:
    try:
        (directory / "points").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror}; choose another --output") from None
    if not os.access(directory / "points", os.W_OK):
        raise UserError(f"cannot write to {directory}: no permission; choose another --output")


def _run_missing(points: Sequence[_Point], threads: int, progress: Progress | None) -> bool:
    """Run the points, a file each; returns whether Ctrl-C cut the sweep short."""
    if not points:
        return False
    finished = itertools.count(1)

    def run_point(point: _Point, stop: threading.Event) -> None:
        def heed(_done: float, _total: float) -> None:
            if stop.is_set():
                raise KeyboardInterrupt

        result = run_scenario(point.scenario, progress=heed)
        if result.interrupted:
            return
        _write_whole(point.path, {"grid": point.place, "summary": result.summary()})
        if progress is not None:
            progress(next(finished), len(points))

    return run_all(run_point, points, threads=threads)[1]


def _write_whole(path: Path, value: Any) -> None:
    """Write beside and rename, so that a point is there whole or not at all."""
    partial = path.with_suffix(".partial")
    write_json(partial, value)
    partial.replace(path)


def _collect(
    experiment: str,
    grid: Mapping[str, Sequence[Any]],
    points: Sequence[_Point],
    directory: Path,
    resumed: int,
    interrupted: bool,
) -> Sweep:
    rows: list[dict[str, Any]] = []
    finished = 0
    for point in points:
        if not point.path.is_file():
            continue
        finished += 1
        summary = json.loads(point.path.read_text(encoding="utf-8"))["summary"]
        rows += [point.place | row for row in summary["rows"]]
    return Sweep(
        experiment=experiment,
        grid={key: list(values) for key, values in grid.items()},
        rows=polars.DataFrame(rows, infer_schema_length=None),
        directory=directory,
        points=len(points),
        finished=finished,
        resumed=resumed,
        interrupted=interrupted,
    )


def _write(result: Sweep, *, seeds: Sequence[int]) -> None:
    partial = result.directory / "rows.parquet.partial"
    write_table(
        result.rows,
        partial,
        name=ROWS,
        experiment=result.experiment,
        seeds=seeds,
        version=_native.version(),
    )
    partial.replace(result.directory / "rows.parquet")
    _write_whole(result.directory / "summary.json", result.summary())
    _write_whole(result.directory / MANIFEST, manifest(seed=seeds[0]))
