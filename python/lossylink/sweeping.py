"""A grid of settings, run in parallel; a finished point is a file, so a sweep goes on where it was left."""

from __future__ import annotations

import errno
import itertools
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars

from lossylink import _native
from lossylink.errors import UserError
from lossylink.frames import flat, html_table, text_table
from lossylink.headline import headline_frame
from lossylink.job import Progress
from lossylink.manifest import manifest
from lossylink.parquet import ROWS, write_table
from lossylink.pool import run_all
from lossylink.results import Run, jsonable
from lossylink.run_directory import MANIFEST, write_json
from lossylink.runner import run_scenario
from lossylink.scenario import Scenario, resolve
from lossylink.scenario.from_python import spell, spelled
from lossylink.writing import output_to, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    names: tuple[str, ...]
    """What each point of the grid is called in ``directory``, after everything that decides its result."""

    def summary(self) -> dict[str, Any]:
        """Return the JSON object that ``--json`` prints and ``summary.json`` holds."""
        return {
            "experiment": self.experiment,
            "version": _native.version(),
            "grid": self.grid,
            "points": self.points,
            "finished": self.finished,
            "interrupted": self.interrupted,
            "names": list(self.names),
            "rows": [jsonable(row) for row in self.rows.to_dicts()],
        }

    @property
    def frame(self) -> polars.DataFrame:
        """One row a point and a protection, the grid's keys in front, in plain columns.

        Intervals are ``_low`` and ``_high``, checks are text: it goes into CSV, pandas or a plotting library
        as it is. ``rows`` keeps lists and structures.
        """
        return flat(self.rows)

    def runs(self) -> list[Run]:
        """Return a run for each finished point; points keep rows, and no tables."""
        found = (_kept(_point_file(self.directory, name)) for name in self.names)
        return [Run.of_summary(summary) for summary in found if summary is not None]

    def plot(self, kind: str | None = None) -> Figure:
        """Draw the rows, as `Run.plot` does."""
        from lossylink.charts.drawing.runs import draw_runs  # matplotlib: only where something is drawn

        return draw_runs([("", run) for run in self.runs()], kind)

    def __str__(self) -> str:
        """Return the rows as a table."""
        words = f"sweep of {self.experiment}: {self.finished} of {self.points} points in {self.directory}"
        return f"{words}\n{text_table(self._headline())}"

    def _repr_html_(self) -> str:
        words = f"sweep of {self.experiment}: {self.finished} of {self.points} points"
        return f"<p>{escape(words)}</p>{html_table(self._headline())}"

    def _headline(self) -> polars.DataFrame:
        return headline_frame(self.experiment, self.rows.to_dicts(), places=tuple(self.grid))


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
    protection: str | Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    output: str | Path | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Run every combination of the grid's values that is not in ``output`` already.

    Parameters
    ----------
    what
        An experiment (``"stress"``) or the path of a scenario file.
    grid
        Values by key: any key of a scenario, ``protection`` or ``seed``; numbers in SI units, as for `run`.
    protection, settings, seed
        As for `run`, at every point that the grid does not say otherwise for.
    output
        Directory of the sweep; by default one named after what is asked, so that asking again resumes.
    threads
        Points at a time; all cores by default.

    Returns
    -------
    Sweep
        Its ``frame`` is one polars frame of all points, a row each and a protection, the grid's keys in
        front; ``Sweep.plot`` draws it.

    Raises
    ------
    UserError
        A combination cannot be run; told before the first one begins.

    Examples
    --------
    >>> import lossylink, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     swept = lossylink.sweep(
    ...         "stress",
    ...         grid={"loss.forward": [1e-3, 1e-2]},
    ...         protection="lg",
    ...         settings={"traffic.packets": 10_000},
    ...         output=folder,
    ...     )
    >>> swept.frame.select("loss.forward", "protection", "packets_sent").rows()
    [(0.001, 'lg', 10000), (0.01, 'lg', 10000)]
    """
    schemes = [protection] if isinstance(protection, str) else protection
    chosen = spelled(settings)
    count = threads or len(os.sched_getaffinity(0))
    if count < 1:
        raise UserError(f"threads = {threads}: use at least 1")
    combinations = _combinations(grid)
    scenarios = [
        _resolve_point(what, combination, protection=schemes, settings=chosen, seed=seed)
        for combination in combinations
    ]
    directory = Path(output) if output is not None else _default_directory(scenarios)
    points = [
        _Point(combination, scenario, _point_file(directory, scenario.fingerprint(_native.version())))
        for combination, scenario in zip(combinations, scenarios, strict=True)
    ]
    with output_to(directory):
        _prepare(directory / "points")
        missing = [point for point in points if _kept(point.path) is None]
        interrupted = _run_missing(missing, count, progress)
        resumed = len(points) - len(missing)
        result = _collect(scenarios[0].experiment.name, grid, points, directory, resumed, interrupted)
        _write(result, seeds=list(dict.fromkeys(scenario.seed for scenario in scenarios)))
    return result


def _prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _point_file(directory: Path, name: str) -> Path:
    return directory / "points" / f"{name}.json"


def _kept(path: Path) -> dict[str, Any] | None:
    """Return the summary of a finished point; a file that was cut short, or is of another point, is none."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(kept, dict) or kept.get("name") != path.stem:
        return None
    summary: dict[str, Any] = kept["summary"]
    return summary


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
    own = {key: spell(key, value) for key, value in combination.items()}
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
        name = point.path.stem
        _write_whole(point.path, {"name": name, "grid": point.place, "summary": result.summary()})
        if progress is not None:
            progress(next(finished), len(points))

    return run_all(run_point, points, threads=threads)[1]


def _write_whole(path: Path, value: Any) -> None:
    """Write beside and rename, so that a point is there whole or not at all."""
    with whole(path) as partial:
        write_json(partial, value)


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
        summary = _kept(point.path)
        if summary is None:
            continue
        finished += 1
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
        names=tuple(point.path.stem for point in points),
    )


def _write(result: Sweep, *, seeds: Sequence[int]) -> None:
    with whole(result.directory / "rows.parquet") as partial:
        write_table(
            result.rows,
            partial,
            name=ROWS,
            experiment=result.experiment,
            seeds=seeds,
            version=_native.version(),
        )
    _write_whole(result.directory / "summary.json", result.summary())
    _write_whole(result.directory / MANIFEST, manifest(seed=seeds[0]))


def read_sweep(directory: Path, summary: Mapping[str, Any]) -> Sweep:
    """Return the sweep of a directory and its ``summary.json``.

    Raises
    ------
    UserError
        The summary does not say which points it is of.
    """
    if "names" not in summary:
        raise UserError(f"{directory} is of an earlier version; sweep into it again")
    return Sweep(
        experiment=str(summary["experiment"]),
        grid=dict(summary["grid"]),
        rows=polars.DataFrame(summary["rows"], infer_schema_length=None),
        directory=directory,
        points=int(summary["points"]),
        finished=int(summary["finished"]),
        resumed=int(summary["finished"]),
        interrupted=bool(summary["interrupted"]),
        names=tuple(summary["names"]),
    )
