"""The page of any results: what they say, their figures, and the scenarios that give them again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from lossylink.charts.chart import Chart
from lossylink.charts.figures import possible
from lossylink.charts.report.page import Command, Heading, Line, Link, Page, Section, Table, page_of
from lossylink.results.checks import reasons
from lossylink.results.headline import headline
from lossylink.results.result import Result
from lossylink.running.loading import SUMMARY, load, load_runs
from lossylink.running.run import Run
from lossylink.running.sweeping import Sweep
from lossylink.scenario.save import scenario_toml

#: Points of a sweep whose scenarios are shown; the others differ by the grid alone.
SHOWN_SCENARIOS = 3


@dataclass(frozen=True)
class _Result:
    directory: Path
    kept: Run | Sweep
    runs: list[tuple[str, Result]]

    @property
    def name(self) -> str:
        return self.directory.name or str(self.directory)


def page_of_runs(directories: Sequence[Path], *, output: Path, title: str | None = None) -> Page:
    """Make the page; several results are also drawn over each other, in a section of their own.

    Parameters
    ----------
    directories
        Of runs, sweeps or points of a reproduction.
    output
        The file that the page will be, from which it links to the results.

    Raises
    ------
    UserError
        A directory holds no result; one line says what is missing.
    """
    results = [_Result(directory, load(directory), load_runs(directory)) for directory in directories]
    sections = [_section(result, place, output) for place, result in enumerate(results)]
    if len(results) > 1:
        together = _charts([run for result in results for run in result.runs], "together")
        if together:
            sections.insert(0, Section(identifier="together", title="All together", charts=together))
    first = results[0].runs[0][1] if results[0].runs else None
    meta = f"lossylink {first.version}" if first is not None else ""
    page = page_of(title=title or ", ".join(result.name for result in results), sections=sections, meta=meta)
    return replace(page, of=places_of(directories, output))


def places_of(directories: Sequence[Path], output: Path) -> tuple[str, ...]:
    """Return where results are, as addresses seen from a page."""
    return tuple(quote(os.path.relpath(directory, output.parent)) for directory in directories)


def _section(result: _Result, place: int, output: Path) -> Section:
    identifier = f"result-{place}"
    points = f"{len(result.runs)} points" if isinstance(result.kept, Sweep) else ""
    return Section(
        identifier=identifier,
        title=result.name,
        summary=_summary(result),
        remark=points,
        charts=_charts(result.runs, identifier),
        tables=(_table(result),),
        commands=_commands(result, output),
        notes=tuple(reasons(result.kept.rows.to_dicts(), _places(result.kept))),
    )


def _summary(result: _Result) -> str:
    kept = result.kept
    if isinstance(kept, Sweep):
        grid = "; ".join(f"{key} = {', '.join(map(str, values))}" for key, values in kept.grid.items())
        return f"A sweep of {kept.experiment} over {grid}: {kept.finished} of {kept.points} points."
    stopped = " It was interrupted." if kept.interrupted else ""
    return f"{kept.experiment} on the backend {kept.backend}, seed {kept.seed}.{stopped}"


def _charts(runs: Iterable[tuple[str, Result]], section: str) -> tuple[Chart, ...]:
    """Every figure that the results admit, called after their section: a page has each identifier once."""
    sheets = possible(list(runs)).sheets
    charts = [chart for sheet in sheets for chart in sheet.charts]
    return tuple(replace(chart, identifier=f"{section}-{chart.identifier}") for chart in charts)


def _table(result: _Result) -> Table:
    kept = result.kept
    table = headline(kept.experiment, kept.rows.to_dicts(), places=_places(kept))
    named = zip(table.labels, table.units, strict=True)
    heads = [f"{label} ({unit})" if unit else label for label, unit in named]
    return Table(
        "Rows",
        tuple(Heading(head) for head in heads[1:]),
        tuple(Line(row[0], tuple((text,) for text in row[1:])) for row in table.rows),
        note=f"All keys of the rows are in {'rows.parquet' if isinstance(kept, Sweep) else SUMMARY}.",
    )


def _places(kept: Run | Sweep) -> tuple[str, ...]:
    return tuple(kept.grid) if isinstance(kept, Sweep) else ()


def _commands(result: _Result, output: Path) -> tuple[Command, ...]:
    """The scenarios that give the result again; the first brings the files of the result."""
    files = tuple(_files(result.directory, output))
    return tuple(
        Command(
            name or run.experiment,
            "lossylink run scenario.toml",
            scenario_toml(run.scenario),
            () if place else files,
        )
        for place, (name, run) in enumerate(result.runs[:SHOWN_SCENARIOS])
    )


def _files(directory: Path, output: Path) -> Iterable[Link]:
    for path in sorted(directory.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            yield Link(path.name, os.path.relpath(path, output.parent))
