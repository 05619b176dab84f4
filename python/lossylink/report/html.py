"""Renders a reproduction as one self-contained HTML file: no network, no external font, no library."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from lossylink.charts.chart import Chart
from lossylink.report.budget_view import budgets_view
from lossylink.reproduce.framework.comparison import Cell, Column, ComparisonTable, Row
from lossylink.reproduce.framework.kept import Kept
from lossylink.reproduce.framework.model import QUICK_DIVISOR, Basis, Job, Outcome, Verdict, basis_text
from lossylink.reproduce.framework.quantity import figure
from lossylink.reproduce.framework.result import ExperimentResult, ReproduceResult
from lossylink.reproduce.framework.tally import tally
from lossylink.scenario.save import scenario_toml

ASSETS = Path(__file__).parent / "assets"
OUTCOME_CLASSES = {
    Outcome.HOLDS: "holds",
    Outcome.REFUTED: "refuted",
    Outcome.FAILS: "fails",
    Outcome.UNDECIDED: "undecided",
    Outcome.UNDECIDABLE: "undecided",
    Outcome.SET_UP: "set-up",
    Outcome.NOT_RUN: "not-run",
}
UNIT_SPACE = re.compile(r"(?<=\d) (?=(?:%|µs|ms|s|KB|MB|B|Gb/s|Mb/s|M)\b|%)")
"""A figure and its unit stay on one line."""
CODE = re.compile(r"`([^`]*)`")
EXPONENT = re.compile(r"\^(?:\(([^)]*)\)|(-?\w+))")
POWER = re.compile(r"(?:(?P<one>\b1)|(?P<mantissa>\b\d+(?:\.\d+)?))e(?P<exponent>-?\d+)\b")


def render(result: ReproduceResult) -> str:
    """The report as HTML text."""
    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    counts = result.counts
    shown = [outcome for outcome in Outcome if counts[outcome]]
    return environment.get_template("report.html.j2").render(
        style=Markup((ASSETS / "report.css").read_text(encoding="utf-8")),
        script=Markup((ASSETS / "chart.js").read_text(encoding="utf-8")),
        result=result,
        provenance=result.provenance,
        quick_divisor=QUICK_DIVISOR,
        wall_time=duration(result.provenance.wall_seconds),
        tally=tally(counts),
        not_run=[pretty(sentence) for sentence in result.not_run()],
        open_claims=[verdict_view(verdict) | {"experiment": name} for name, verdict in result.open_claims],
        outcomes=[{"key": outcome, "label": str(outcome)} for outcome in shown],
        views=[experiment_view(experiment, seed=result.provenance.seed) for experiment in result.experiments],
    )


def pretty(text: str) -> Markup:
    r"""Escaped text with powers set as such, ``us`` as microseconds and ``*`` as a times sign.

    Examples
    --------
    >>> pretty("loss 1e-3, 9.97e-4 < 60 us")
    Markup('loss 10<sup>−3</sup>, 9.97 × 10<sup>−4</sup> &lt; 60\xa0µs')
    """

    def power(match: re.Match[str]) -> str:
        exponent = match["exponent"].replace("-", "−")
        front = "" if match["one"] else f"{match['mantissa']} × "
        return f"{front}10<sup>{exponent}</sup>"

    shown = POWER.sub(power, str(escape(text)))
    shown = CODE.sub(r"<code>\1</code>", shown)
    shown = EXPONENT.sub(r"<sup>\1\2</sup>", shown)
    shown = re.sub(r"\bus\b", "µs", shown).replace(" * ", " × ")
    return Markup(UNIT_SPACE.sub("\u00a0", shown))


def duration(seconds: float) -> str:
    """A wall time as people say it.

    Examples
    --------
    >>> duration(0.31), duration(42.4), duration(125)
    ('0.3 s', '42 s', '2 min 5 s')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def experiment_view(result: ExperimentResult, *, seed: int) -> dict[str, Any]:
    """What the template shows of one experiment."""
    experiment, runs = result.experiment, result.finished.runs
    finished = sum(1 for job in result.jobs if job.key in runs and not runs[job.key].interrupted)
    return {
        "name": experiment.name,
        "title": experiment.title,
        "is_quick": result.is_quick,
        "summary": pretty(experiment.summary),
        "source": experiment.source,
        "counts": Counter(verdict.judgement.outcome for verdict in result.verdicts),
        "progress": str(finished) if result.is_complete else f"{finished} of {len(result.jobs)}",
        "wall_time": duration(sum(run.wall_seconds for run in runs.values())),
        "verdicts": [verdict_view(verdict) for verdict in result.verdicts],
        "kept": None if result.kept is None else kept_view(result.kept),
        "tables": [table_view(table) for table in result.tables],
        "budgets": budgets_view(result.budgets),
        "charts": [chart_view(chart) for chart in result.charts],
        "failures": [f"{key}: {reason}" for key, reason in result.failures.items()],
        "notes": [pretty(note) for note in experiment.notes],
        "jobs": [job_view(job, result, seed=seed) for job in result.jobs],
    }


def verdict_view(verdict: Verdict) -> dict[str, Any]:
    """A claim with its badge."""
    claim, judgement = verdict.claim, verdict.judgement
    return {
        "style": OUTCOME_CLASSES[judgement.outcome],
        "outcome": str(judgement.outcome),
        "claim": pretty(claim.text),
        "basis": "" if claim.basis is Basis.PREDICTION else basis_text(claim),
        "reason": pretty(judgement.reason),
        "source": pretty(claim.source),
    }


def kept_view(kept: Kept) -> dict[str, Any]:
    """A full run from before."""
    verdicts = [
        {
            "style": OUTCOME_CLASSES[one.outcome],
            "outcome": str(one.outcome),
            "claim": pretty(one.claim),
            "reason": pretty(one.reason),
            "source": pretty(one.source),
        }
        for one in kept.verdicts
    ]
    return {"origin": pretty(kept.origin), "tally": kept.tally, "verdicts": verdicts}


def table_view(table: ComparisonTable) -> dict[str, Any]:
    """A table with texts instead of numbers."""
    published = [
        any(row.cells[place].published is not None for row in table.rows)
        for place in range(len(table.columns))
    ]
    columns = [
        {"name": pretty(column.name), "mark": column.mark, "published": flag, "span": 3 if flag else 1}
        for column, flag in zip(table.columns, published, strict=True)
    ]
    return {
        "title": pretty(table.title),
        "note": pretty(table.note),
        "has_published": table.has_published,
        "columns": columns,
        "rows": [_row_view(row, table.columns, published) for row in table.rows],
    }


def _row_view(row: Row, columns: tuple[Column, ...], published: list[bool]) -> dict[str, Any]:
    places = zip(row.cells, columns, published, strict=True)
    cells = [_cell_view(row, cell, column, flag) for cell, column, flag in places]
    return {"label": pretty(f"{row.label} ({row.unit})" if row.unit else row.label), "cells": cells}


def _cell_view(row: Row, cell: Cell, column: Column, has_published: bool) -> dict[str, Any]:
    return {
        "has_published": has_published,
        "published": pretty(row.text(cell.published, column)),
        "here": pretty(row.text(cell.here, column)),
        "ratio": figure(cell.ratio),
    }


def chart_view(chart: Chart) -> dict[str, Any]:
    """A chart with its data as JSON that cannot end the script element around it."""
    data = json.dumps(chart.to_json(), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return {
        "identifier": chart.identifier,
        "title": chart.title,
        "caption": pretty(chart.caption),
        "wide": chart.wide,
        "json": Markup(data.replace("<", "\\u003c")),
    }


def job_view(job: Job, result: ExperimentResult, *, seed: int) -> dict[str, Any]:
    """A job's command line, its resolved scenario and what became of it."""
    run = result.finished.runs.get(job.key)
    if run is None:
        failure = result.failures.get(job.key)
        state = f" (failed: {failure})" if failure else " (not run)"
    else:
        state = " (interrupted)" if run.interrupted else f" ({duration(run.wall_seconds)})"
    return {
        "key": f"{job.experiment}, {job.key}",
        "state": state,
        "command": job.command(seed=seed),
        "scenario": "" if run is None else scenario_toml(run.scenario),
    }
