"""A 25G DCTCP flow while its link starts to corrupt and LinkGuardian is switched on under it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lossylink.report.chart import Axis, Chart, Guide, Series, embedded
from lossylink.report.palette import name_of, slots_of
from lossylink.reproduce.comparison import Column, ComparisonTable, Row, cell
from lossylink.reproduce.judging import at_least, at_most, bounded
from lossylink.reproduce.measures import derived
from lossylink.reproduce.model import (
    Claim,
    Finished,
    Job,
    NotRunError,
    Published,
    PublishedExperiment,
    Scale,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JOB = "25G, DCTCP"
PLAIN, UNPAUSED = "lg", "lg:backpressure=off"
PROTECTIONS = (PLAIN, UNPAUSED)

CORRUPTION_MS, PROTECTION_MS, END_MS, BIN_MS = 1000, 3000, 5000, 100
"""Moments of the published shape: loss starts, protection starts, end; and the width of a bin."""

RATE = "send_gbps"
PANELS = {
    RATE: ("Sending rate", "Gb/s"),
    "queue_kb": ("Queue of the protected port", "KB"),
    "rx_buffer_kb": ("Rx buffer", "KB"),
    "retransmissions": ("End-to-end retransmissions a bin", ""),
}
"""Columns of the ``timeline`` table beside ``time_s``, the start of a bin: rate, occupancies, a count."""

PHASES = ("before the loss", "unprotected", "protected")


def jobs(scale: Scale) -> tuple[Job, ...]:
    """One run of both variants."""
    moments = {
        "timeline.corruption": CORRUPTION_MS,
        "timeline.protection": PROTECTION_MS,
        "timeline.bin": BIN_MS,
        "run.duration": END_MS,
    }
    settings = {key: f"{scale.of(value)}ms" for key, value in moments.items()}
    return (Job(JOB, "timeline", PROTECTIONS, settings, 5.0 / scale.divisor),)


def _moments_s(finished: Finished) -> tuple[float, float, float]:
    """When loss starts, when protection starts, and the end: shares of the run, whatever its length."""
    times = finished.column(JOB, PLAIN, "timeline", "time_s")
    step = float(times[1] - times[0]) if times.size > 1 else 0.0
    end = float(times[-1]) + step
    return end * CORRUPTION_MS / END_MS, end * PROTECTION_MS / END_MS, end


def phase_mean(protection: str, phase: str, column: str = RATE) -> Callable[[Finished], float]:
    """Mean of a column over a phase, its first bin left out: rates need a bin to settle."""

    def measure(finished: Finished) -> float:
        corruption, switched_on, end = _moments_s(finished)
        start, stop = {
            PHASES[0]: (0.0, corruption),
            PHASES[1]: (corruption, switched_on),
            PHASES[2]: (switched_on, end),
        }[phase]
        times = finished.column(JOB, protection, "timeline", "time_s")
        values = finished.column(JOB, protection, "timeline", column)
        inside = (times >= start + end * BIN_MS / END_MS - 1e-9) & (times < stop - 1e-9)
        if not np.any(inside):
            raise NotRunError(f"{JOB} has no bin {phase}")
        return float(values[inside].mean())

    return measure


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """Means of every column, phase by phase."""
    columns = tuple(Column(f"{label}, {unit}" if unit else label) for label, unit in PANELS.values())
    rows = tuple(
        Row(
            f"{name_of(protection)}, {phase}",
            tuple(cell(phase_mean(protection, phase, column), finished) for column in PANELS),
            digits=3,
        )
        for protection in PROTECTIONS
        for phase in PHASES
    )
    return (ComparisonTable("Means of each phase, first bin left out (ours)", columns, rows),)


def _ratio(over: tuple[str, str], under: tuple[str, str], column: str = RATE) -> Callable[[Finished], float]:
    def measure(finished: Finished) -> float:
        base = phase_mean(*under, column)(finished)
        if base == 0:
            raise NotRunError(f"{JOB} has nothing of {column} to compare with")
        return phase_mean(*over, column)(finished) / base

    return measure


def claims(_published: Published) -> tuple[Claim, ...]:
    """The published shape, as ratios of phase means."""
    before, during, after = ((PLAIN, phase) for phase in PHASES)
    shape = "time-line figure"
    return (
        Claim(
            "Loss costs the flow a fifth of its rate or more",
            bounded(derived(_ratio(during, before)), at_most(0.8), unit="x"),
            source=shape,
        ),
        Claim(
            "Within a bin of switching LinkGuardian on, the rate is back to nine tenths or more",
            bounded(derived(_ratio(after, before)), at_least(0.9), unit="x"),
            source=shape,
        ),
        Claim(
            "Without backpressure the rate stays lower",
            bounded(derived(_ratio((UNPAUSED, PHASES[2]), after)), at_most(1.0), unit="x", digits=4),
            source=shape,
        ),
        Claim(
            "Without backpressure the Rx buffer grows larger",
            bounded(derived(_ratio((UNPAUSED, PHASES[2]), after, "rx_buffer_kb")), at_least(1.0), unit="x"),
            source=shape,
        ),
    )


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """One chart a column."""
    slots = slots_of(PROTECTIONS)
    found = []
    for column, (label, unit) in PANELS.items():
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
            found.append(_chart(column, label, unit, tuple(series), _moments_s(finished)))
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
        corruption, switched_on, _ = _moments_s(finished)
        run = finished.run(JOB)
    except NotRunError:
        return {}
    return {"panels": plot.timeline(run, events_s={"loss": corruption, "protection": switched_on})}


EXPERIMENT = PublishedExperiment(
    name="timeline",
    title="Protection switched on under traffic",
    summary="Corruption starts while a flow runs; two seconds later LinkGuardian is switched on under it, "
    "with and without backpressure.",
    source="LinkGuardian (SIGCOMM 2023), time line at 25G",
    needs="timeline",
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    figures=figures,
)
