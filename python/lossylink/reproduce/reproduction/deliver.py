"""Writes what `reproduce` leaves behind: report.html, reproduce.json, and figures for papers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from lossylink._package.holding import FILES, MANIFEST, Holding, holding_of, refuse
from lossylink._package.manifest import manifest
from lossylink._package.writing import whole
from lossylink.charts.report.html import render
from lossylink.reproduce.framework.files import FIGURES_NAME, run_folder
from lossylink.reproduce.framework.model import Verdict
from lossylink.reproduce.framework.result import ExperimentResult, ReproduceResult
from lossylink.reproduce.framework.runner import Report
from lossylink.reproduce.reproduction.report import page_of_result
from lossylink.results.directory import run_files, write_json, write_run
from lossylink.results.result import jsonable

REPORT_NAME = "report.html"
SUMMARY_NAME = "reproduce.json"


def prepare(output: Path, *, replace: bool = False) -> Holding | None:
    """Make the output directory and prove that it can be written, before anything is run.

    Gives another result in it, which may be replaced. Reproductions of all kinds share a directory: each
    point has its file, and the report says of what it is.

    Raises
    ------
    UserError
        There is another result, and it may not be replaced.
    """
    held = holding_of(output)
    if held is not None and held.kind == "reproduction":
        held = None
    if held is not None and not replace:
        raise refuse(output, held)
    output.mkdir(parents=True, exist_ok=True)
    probe = output / ".lossylink-writable"
    probe.touch()
    probe.unlink()
    return held


def deliver(result: ReproduceResult, output: Path) -> ReproduceResult:
    """Write runs, summary and report; gives the result with the report's path."""
    for experiment in result.experiments:
        _write_runs(experiment, output / experiment.experiment.name)
    return write(result, output)


def write(result: ReproduceResult, output: Path) -> ReproduceResult:
    """Write summary and report, in place of earlier ones; gives the result with the report's path."""
    write_json(output / SUMMARY_NAME, summary_of(result))
    return write_report(result, output)


def name_files(result: ReproduceResult, output: Path) -> list[str]:
    """Write a manifest that names the files of a reproduction, with those of earlier calls; gives them."""
    runs = [
        f"{one.experiment.name}/{run_folder(key)}/{name}"
        for one in result.experiments
        for key, run in one.finished.runs.items()
        for name in run_files(run)
    ]
    figures = [path.relative_to(output).as_posix() for files in result.figures.values() for path in files]
    earlier = holding_of(output)
    before = [path.as_posix() for path in earlier.files] if earlier and earlier.kind == "reproduction" else []
    files = sorted({REPORT_NAME, SUMMARY_NAME, MANIFEST, *runs, *figures, *before})
    provenance = result.provenance
    write_json(output / MANIFEST, manifest(seed=provenance.seed) | {FILES: files})
    return files


def write_report(result: ReproduceResult, output: Path) -> ReproduceResult:
    """Write the report, in place of an earlier one; gives the result with its path."""
    report = output / REPORT_NAME
    with whole(report) as partial:
        partial.write_text(render(page_of_result(result, output)), encoding="utf-8")
    return replace(result, report_path=report)


def save_figures(result: ReproduceResult, output: Path, report: Report) -> ReproduceResult:
    """Save the figures for papers, in every format, and write the report anew with links to them."""
    from lossylink.charts.drawing import save  # matplotlib: only where there is something to draw

    sheets = [(one.experiment.name, sheet) for one in result.experiments for sheet in one.sheets]
    saved: dict[str, tuple[Path, ...]] = {}
    for done, (name, sheet) in enumerate(sheets):
        report(done, len(sheets))
        saved[name] = (*saved.get(name, ()), *save(sheet, output / FIGURES_NAME))
    return write_report(replace(result, figures=saved), output)


def _write_runs(result: ExperimentResult, folder: Path) -> None:
    """Keep every run as `lossylink run` would: rows, tables as Parquet, scenario and manifest."""
    for key, run in result.finished.runs.items():
        directory = folder / run_folder(key)
        directory.mkdir(parents=True, exist_ok=True)
        write_run(directory, run)


def summary_of(result: ReproduceResult) -> dict[str, Any]:
    """The whole result as JSON scalars, lists and objects."""
    return {
        "quick": result.quick,
        "interrupted": result.interrupted,
        "points_resumed": result.resumed,
        "growth": None if result.growth is None else vars(result.growth),
        "provenance": {**vars(result.provenance)},
        "experiments": [_experiment_summary(experiment) for experiment in result.experiments],
    }


def _experiment_summary(result: ExperimentResult) -> dict[str, Any]:
    return {
        "name": result.experiment.name,
        "complete": result.is_complete,
        "divisor": result.scale.divisor,
        "verdicts": [_verdict_summary(verdict) for verdict in result.verdicts],
        "failures": dict(result.failures),
        "grown": [vars(one) for one in result.grown],
        "runs": {key: run.summary() for key, run in result.finished.runs.items()},
    }


def _verdict_summary(verdict: Verdict) -> dict[str, Any]:
    judgement = verdict.judgement
    return {
        "claim": verdict.claim.text,
        "source": verdict.claim.source,
        "basis": str(verdict.claim.basis),
        "rests_on": list(verdict.claim.rests_on),
        "outcome": str(judgement.outcome),
        "reason": judgement.reason,
        "before": None if verdict.before is None else str(verdict.before.outcome),
        "grown": {f"{one.job}, {one.protection}": one.amount for one in verdict.grown},
        "price": None if verdict.price is None else vars(verdict.price),
        "published": judgement.published,
        "here": None if judgement.here is None else jsonable(judgement.here.as_json()),
    }
