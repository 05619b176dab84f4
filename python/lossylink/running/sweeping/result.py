"""What a sweep gave: a `Sweep`, its files, and reading them back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars

from lossylink import _native
from lossylink._package.holding import FILES, MANIFEST, QUESTION
from lossylink._package.manifest import manifest
from lossylink._package.writing import whole
from lossylink.errors import UserError
from lossylink.results.directory import write_json
from lossylink.results.frames import flat, html_table, text_table
from lossylink.results.headline import headline_frame, why_failed
from lossylink.results.parquet import ROWS, write_table
from lossylink.results.result import alike, jsonable
from lossylink.running.run import Run
from lossylink.running.sweeping import shards
from lossylink.running.sweeping.points import Point
from lossylink.running.sweeping.shards import Finished

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Keys of a row that are not the same at the next run; they stay with the points.
OF_THE_CLOCK = frozenset({"packets_per_wall_second"})
#: What every sweep writes into its directory.
OWN_FILES = (f"{ROWS}.parquet", "summary.json", "rows.csv", "figure.svg")
#: Most points of a figure: beyond it lines cover each other.
DRAWN_POINTS = 500


@dataclass(frozen=True)
class Sweep:
    """What a sweep gave: every row of every finished point, the grid's keys in front."""

    experiment: str
    grid: dict[str, list[Any]]
    """The values of each key, zipped ones last."""
    zipped: tuple[str, ...]
    """The keys whose values advance together."""
    rows: polars.DataFrame
    directory: Path
    points: int
    finished: int
    failed: dict[str, str]
    """The error of each point that failed, by its name in ``names``; ``rows`` has it as ``error``."""
    resumed: int
    interrupted: bool
    names: tuple[str, ...]
    """What each point of the grid is called in ``directory``, after everything that decides its result."""
    repeats: str = ""
    """One line about points that were given more than once, and ran once; or nothing."""
    beside: str = ""
    """The other result that ``directory`` still holds: one that was stopped takes no other's place."""

    def summary(self) -> dict[str, Any]:
        """Return the JSON object that ``--json`` prints and ``summary.json`` holds."""
        return {
            "experiment": self.experiment,
            "version": _native.version(),
            "grid": self.grid,
            "zipped": list(self.zipped),
            "points": self.points,
            "finished": self.finished,
            "failed": self.failed,
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
        """Return a run for each finished point, with its tables if the sweep kept them."""
        kept = shards.read(self.directory / shards.FOLDER, self.names)
        found = (kept.get(name) for name in self.names)
        return [point.run(with_intervals=True) for point in found if point is not None and not point.error]

    def plot(self, kind: str | None = None) -> Figure:
        """Draw the rows, as `Run.plot` does."""
        from lossylink.charts.drawing.runs import draw_runs  # matplotlib: only where something is drawn

        return draw_runs([("", run) for run in self.runs()], kind)

    def __str__(self) -> str:
        """Return the rows as a table."""
        words = f"sweep of {self.experiment}: {self.finished} of {self.points} points in {self.directory}"
        why = why_failed(self.rows.to_dicts(), tuple(self.grid))
        return "\n".join([words, text_table(self._headline()), *why])

    def _repr_html_(self) -> str:
        words = f"sweep of {self.experiment}: {self.finished} of {self.points} points"
        return f"<p>{escape(words)}</p>{html_table(self._headline())}"

    def _headline(self) -> polars.DataFrame:
        rows = [row for row in self.rows.to_dicts() if not row.get("error")]
        return headline_frame(self.experiment, rows, places=tuple(self.grid))


def rows_of(place: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of a point with its place in front, without what the clock on the wall decides."""
    return [{**place, **{key: row[key] for key in row if key not in OF_THE_CLOCK}} for row in rows]


def rows_of_all(
    points: Sequence[Point], kept: Mapping[str, Finished], failed: Mapping[str, str]
) -> polars.DataFrame:
    """Return the rows of points with a result or an error, in the order of the grid, whoever ran what."""
    rows: list[dict[str, Any]] = []
    for point in points:
        if point.name in kept:
            rows += rows_of(point.place, kept[point.name].rows())
        elif point.name in failed:
            error = {"error": failed[point.name]}
            rows += [{**point.place, "protection": each.label} | error for each in point.scenario.protections]
    return polars.DataFrame(alike(rows), infer_schema_length=None)


def begin(directory: Path, question: str, points: Sequence[Point]) -> None:
    """Write a manifest that says what the directory is for, if there is none: a sweep may be killed."""
    if not (directory / MANIFEST).exists():
        _write_manifest(directory, points[0].scenario.seed, question, [MANIFEST])


def write_sweep(
    result: Sweep, points: Sequence[Point], kept: Mapping[str, Finished], question: str
) -> list[str]:
    """Write ``rows.parquet``, a file for each table, ``summary.json`` and the manifest; gives their names."""
    seeds = list(dict.fromkeys(point.scenario.seed for point in points))
    placed = [(point.place, kept[point.name]) for point in points if point.name in kept]
    tables = {ROWS: result.rows}
    for kind in dict.fromkeys(kind for _, one in placed for kind in one.tables or ()):
        found = shards.table(placed, kind)
        tables |= {kind: found} if found is not None else {}
    for name, table in tables.items():
        with whole(result.directory / f"{name}.parquet") as partial:
            write_table(
                table,
                partial,
                name=name,
                experiment=result.experiment,
                seeds=seeds,
                version=_native.version(),
            )
    with whole(result.directory / "summary.json") as partial:
        partial.write_text(_text_of(result.summary()), encoding="utf-8")
    files = [*(f"{name}.parquet" for name in tables), "summary.json", MANIFEST]
    _write_manifest(result.directory, seeds[0], question, files)
    return files


def _write_manifest(directory: Path, seed: int, question: str, files: Sequence[str]) -> None:
    with whole(directory / MANIFEST) as partial:
        write_json(partial, manifest(seed=seed) | {QUESTION: question, FILES: files})


def _text_of(summary: Mapping[str, Any]) -> str:
    """Return the summary as JSON, a line for each member and each row: indenting all takes long."""
    rows = ",\n".join(json.dumps(row, allow_nan=False) for row in summary["rows"])
    rest = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in summary.items() if key != "rows")
    return "{" + ",\n".join([*rest, f'"rows": [\n{rows}\n]']) + "}\n"


def save_figure(result: Sweep) -> Path | None:
    """Write the first figure that the rows admit as ``figure.svg``; gives nothing where there is none."""
    if not 0 < result.finished <= DRAWN_POINTS:
        return None
    from lossylink.charts.drawing import save  # matplotlib: only where something is drawn
    from lossylink.charts.figures import possible

    found = possible([("", run) for run in result.runs()])
    if not found.sheets:
        return None
    (path,) = save(found.sheets[0], result.directory, name="figure", formats=("svg",))
    return path


def read_sweep(directory: Path, summary: Mapping[str, Any]) -> Sweep:
    """Return the sweep of a directory and its ``summary.json``.

    Raises
    ------
    UserError
        The summary is of an earlier layout.
    """
    if "zipped" not in summary:
        raise UserError(f"{directory} is of an earlier version; sweep into another directory")
    kept = {
        key: summary[key] for key in ("experiment", "grid", "points", "finished", "failed", "interrupted")
    }
    return Sweep(
        **kept,
        zipped=tuple(summary["zipped"]),
        rows=polars.DataFrame(summary["rows"], infer_schema_length=None),
        directory=directory,
        resumed=summary["finished"],
        names=tuple(summary["names"]),
    )
