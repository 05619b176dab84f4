"""Writes what `reproduce` leaves behind: report.html, reproduce.json, and figures for papers."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossylink.report.html import render
from lossylink.reproduce.model import ExperimentResult, Verdict
from lossylink.statistics import Estimate

if TYPE_CHECKING:
    from lossylink.reproduce.orchestrate import ReproduceResult

REPORT_NAME = "report.html"
SUMMARY_NAME = "reproduce.json"


def prepare(output: Path) -> None:
    """Make the output directory and prove that it can be written, before anything is run."""
    output.mkdir(parents=True, exist_ok=True)
    probe = output / ".lossylink-writable"
    probe.touch()
    probe.unlink()


def deliver(result: ReproduceResult, output: Path) -> ReproduceResult:
    """Write the report and the machine-readable summary; gives the result with the report's path."""
    summary = json.dumps(summary_of(result), indent=1, allow_nan=False)
    (output / SUMMARY_NAME).write_text(summary + "\n", encoding="utf-8")
    report = output / REPORT_NAME
    report.write_text(render(result), encoding="utf-8")
    return replace(result, report_path=report)


def summary_of(result: ReproduceResult) -> dict[str, Any]:
    """The whole result as JSON scalars, lists and objects."""
    return {
        "quick": result.quick,
        "interrupted": result.interrupted,
        "provenance": vars(result.provenance),
        "experiments": [_experiment_summary(experiment) for experiment in result.experiments],
    }


def _experiment_summary(result: ExperimentResult) -> dict[str, Any]:
    return {
        "name": result.experiment.name,
        "complete": result.is_complete,
        "verdicts": [_verdict_summary(verdict) for verdict in result.verdicts],
        "runs": {
            key: {
                "scenario": run.scenario,
                "wall_seconds": run.wall_seconds,
                "rows": finite(run.rows.to_dicts()),
            }
            for key, run in result.finished.runs.items()
        },
    }


def _verdict_summary(verdict: Verdict) -> dict[str, Any]:
    judgement = verdict.judgement
    return {
        "claim": verdict.claim.text,
        "source": verdict.claim.source,
        "basis": str(verdict.claim.basis),
        "outcome": str(judgement.outcome),
        "reason": judgement.reason,
        "published": judgement.published,
        "here": finite(vars(judgement.here)) if isinstance(judgement.here, Estimate) else None,
    }


def finite(value: Any) -> Any:
    """The value with every nan and infinity as none: JSON has neither."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
