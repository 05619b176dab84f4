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
    """One chart a column."""
    slots = slots_of(PROTECTIONS)
    found = []
    for column, (label, unit, _short) in PANELS.items():
        series = []
        for protection in PROTECTIONS:
            try:
                x = finished.column(JOB, protection, "timeline", "time_s")
                y = finished.column(JOB, protection, "timeline", column)
            except NotRunError:
                continue
            series.append(
                Series(name_of(protection), slots[protection], embedded(x), embedded(y), kind="bins")
            )
        if series:
            found.append(_chart(column, label, unit, tuple(series), moments_s(finished)))
    return tuple(found)


def _chart(
    column: str, label: str, unit: str, series: tuple[Series, ...], moments: tuple[float, float, float]
) -> Chart:
    guides = (Guide("x", moments[0], "loss starts"), Guide("x", moments[1], "protection on"))
    identifier = f"timeline-{column.replace('_', '-')}"
    axis = Axis(label, unit, low=0.0)
    return Chart(identifier, label, "One value a bin.", Axis("time", "s"), axis, series, guides)


def figures(finished: Finished, _published: Published) -> dict[str, Figure]:
    """All panels, for papers."""
    from lossylink import plot

    try:
        corruption, switched_on, _ = moments_s(finished)
        run = finished.run(JOB)
    except NotRunError:
        return {}
    return {"panels": plot.timeline(run, events_s={"loss": corruption, "protection": switched_on})}


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
)
