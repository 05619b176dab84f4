"""DCTCP flows while their link of 25G starts to corrupt and LinkGuardian is switched on under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars

from lossylink.charts.chart import Chart, Guide, Sheet
from lossylink.charts.kinds.timeline import panels
from lossylink.charts.palette import name_of, slots_of
from lossylink.reproduce.experiments.timeline.claims import claims
from lossylink.reproduce.experiments.timeline.runs import (
    FASTER_JOB,
    JOB,
    PANELS,
    PHASES,
    PROTECTIONS,
    jobs,
    moments_s,
    phase_mean,
)
from lossylink.reproduce.framework.comparison import Column, ComparisonTable, Row, cell
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Published, PublishedExperiment
from lossylink.scenario.route import ARTIFACT_ROUTE


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """Means of every column, phase by phase, at both rates."""
    return tuple(
        ComparisonTable(
            f"{job}: means of each phase, first bin left out (ours)", _columns(), _rows(finished, job)
        )
        for job in (JOB, FASTER_JOB)
    )


def _columns() -> tuple[Column, ...]:
    return tuple(
        Column(f"{label}, {unit}" if unit else label, short=short) for label, unit, short in PANELS.values()
    )


def _rows(finished: Finished, job: str) -> tuple[Row, ...]:
    return tuple(
        Row(
            f"{name_of(protection)}, {phase}",
            tuple(cell(phase_mean, finished, protection, phase, column, job) for column in PANELS),
            digits=3,
        )
        for protection in PROTECTIONS
        for phase in PHASES
    )


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """One chart a column at the published rate, then at twice that."""
    return (*_of_rate(finished, JOB), *_of_rate(finished, FASTER_JOB))


def _of_rate(finished: Finished, job: str) -> tuple[Chart, ...]:
    try:
        table = finished.run(job).tables["timeline"]
        corruption, switched_on, _ = moments_s(finished, job)
    except (NotRunError, KeyError):
        return ()
    parts = {name: table.filter(polars.col("protection") == name) for name in PROTECTIONS}
    there = {name: part for name, part in parts.items() if not part.is_empty()}
    slots = slots_of(PROTECTIONS)
    guides = (Guide("x", corruption, "loss starts"), Guide("x", switched_on, "protection on"))
    drawn = panels({(name_of(name), slots[name]): part for name, part in there.items()}, guides)
    rate = _rate(job)
    return tuple(
        replace(chart, identifier=f"{chart.identifier}-{rate.lower()}", title=f"{chart.title}, {rate}")
        for chart in drawn
    )


def _rate(job: str) -> str:
    return job.partition(",")[0]


def sheets(_finished: Finished, charts: Sequence[Chart]) -> tuple[Sheet, ...]:
    """All panels of a rate above each other."""
    of_rates = [
        (rate, tuple(chart for chart in charts if chart.identifier.endswith(f"-{rate}")))
        for rate in (_rate(JOB).lower(), _rate(FASTER_JOB).lower())
    ]
    return tuple(Sheet(f"timeline-panels-{rate}", panes) for rate, panes in of_rates if panes)


EXPERIMENT = PublishedExperiment(
    name="timeline",
    title="Protection switched on under traffic",
    summary="Corruption starts while two flows run; two seconds later LinkGuardian is switched on under it, "
    "with and without backpressure.",
    source="LinkGuardian (SIGCOMM 2023), time line at 25G",
    needs="timeline",
    place=80,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    sheets=sheets,
    route=ARTIFACT_ROUTE,
    guides=("experiments.md",),
)
