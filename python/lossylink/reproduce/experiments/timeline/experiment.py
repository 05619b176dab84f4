"""DCTCP flows while their link of 25G starts to corrupt and LinkGuardian is switched on under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossylink.report.chart import Axis, Chart, Guide, Series, embedded
from lossylink.report.palette import name_of, slots_of
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
from lossylink.route import ARTIFACT_ROUTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    drawn = (_chart(finished, job, column) for job in (JOB, FASTER_JOB) for column in PANELS)
    return tuple(chart for chart in drawn if chart is not None)


def _chart(finished: Finished, job: str, column: str) -> Chart | None:
    label, unit, _short = PANELS[column]
    slots = slots_of(PROTECTIONS)
    series = []
    for protection in PROTECTIONS:
        try:
            x = finished.column(job, protection, "timeline", "time_s")
            y = finished.column(job, protection, "timeline", column)
        except NotRunError:
            continue
        series.append(Series(name_of(protection), slots[protection], embedded(x), embedded(y), kind="bins"))
    if not series:
        return None
    corruption, switched_on, _ = moments_s(finished, job)
    rate = job.partition(",")[0]
    return Chart(
        f"timeline-{column.replace('_', '-')}-{rate.lower()}",
        f"{label}, {rate}",
        "One value a bin.",
        Axis("time", "s"),
        Axis(label, unit, low=0.0),
        tuple(series),
        (Guide("x", corruption, "loss starts"), Guide("x", switched_on, "protection on")),
    )


def figures(finished: Finished, _published: Published) -> dict[str, Figure]:
    """All panels at both rates, for papers."""
    from lossylink import plot

    found = {}
    for job, name in ((JOB, "panels"), (FASTER_JOB, "panels-50g")):
        try:
            corruption, switched_on, _ = moments_s(finished, job)
            run = finished.run(job)
        except NotRunError:
            continue
        found[name] = plot.timeline(run, events_s={"loss": corruption, "protection": switched_on})
    return found


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
    figures=figures,
    route=ARTIFACT_ROUTE,
    guides=("experiments.md",),
)
