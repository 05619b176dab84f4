"""A 25G DCTCP flow while its link starts to corrupt and LinkGuardian is switched on under it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lossylink.report.chart import Axis, Chart, Guide, Series, embedded
from lossylink.report.palette import name_of, slots_of
from lossylink.reproduce.framework.comparison import Column, ComparisonTable, Row, cell
from lossylink.reproduce.framework.judging import at_least, at_most, between, bounded
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import (
    Basis,
    Claim,
    Finished,
    Job,
    Published,
    PublishedExperiment,
    Scale,
)
from lossylink.reproduce.shared.measures import derived, exact

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JOB = "25G, DCTCP"
FASTER_JOB = "50G, DCTCP"
"""Ours: there a recirculation port of 100G is no longer four times as fast as the link."""
STUBBORN_JOB = "25G, saturated source"
"""Ours: a source that does not give way when frames are given up."""
AUTOMATIC_JOB = "25G, monitor"
"""Ours: a monitor decides, and the link heals."""
PLAIN, UNPAUSED = "lg", "lg:backpressure=off"
PROTECTIONS = (PLAIN, UNPAUSED)

CORRUPTION_MS, PROTECTION_MS, END_MS, BIN_MS = 1000, 3000, 5000, 100
"""Moments of the published shape: loss starts, protection starts, end; and the width of a bin."""

FASTER_SHARE = 5
"""The faster run is this many times shorter, and whole at any scale: TCP needs that long to grow back."""

STUBBORN_PACKETS = 1_000_000
"""Whatever the scale: growth begins with losses close together, for which it takes so many."""
HEALING_MS, POLL_MS, HOLD_MS = 3000, 100, 500
"""With the monitor: the link heals; between two readings; least time before it takes protection off."""
WINDOW_FRAMES = 1_000_000
"""Half a second of full frames at 25G."""

RATE = "send_gbps"
PANELS = {
    RATE: ("Sending rate", "Gb/s", "rate, Gb/s"),
    "queue_kb": ("Queue of the protected port", "KB", "queue, KB"),
    "rx_buffer_kb": ("Rx buffer", "KB", "Rx, KB"),
    "retransmissions": ("End-to-end retransmissions a bin", "", "repeats"),
}
"""Columns of the ``timeline`` table beside ``time_s``, the start of a bin: rate, occupancies, a count."""

PHASES = ("before the loss", "unprotected", "protected")


def jobs(scale: Scale) -> tuple[Job, ...]:
    """Both variants at the published rate, and for a shorter time at twice that."""
    moments = {
        "timeline.corruption": CORRUPTION_MS,
        "timeline.protection": PROTECTION_MS,
        "timeline.bin": BIN_MS,
        "run.duration": END_MS,
    }
    settings = {key: f"{scale.of(value)}ms" for key, value in moments.items()}
    shorter = {key: f"{value // FASTER_SHARE}ms" for key, value in moments.items()}
    return (
        Job(JOB, "timeline", PROTECTIONS, settings, 5.0 / scale.divisor),
        Job(FASTER_JOB, "timeline", PROTECTIONS, {"link.rate": "50Gbps", **shorter}, 2.0),
        Job(
            STUBBORN_JOB,
            "stress",
            PROTECTIONS,
            {
                "link.rate": "25Gbps",
                "traffic.source": "saturated",
                "traffic.packets": STUBBORN_PACKETS,
            },
            1.0,
        ),
        Job(AUTOMATIC_JOB, "timeline", (PLAIN,), _automatic(scale), 2.5 / scale.divisor),
    )


def _automatic(scale: Scale) -> dict[str, object]:
    """Settings of a monitor whose lower threshold is five losses in half a second of a clean link."""
    window = scale.of(WINDOW_FRAMES)
    moments = {
        "timeline.corruption": CORRUPTION_MS,
        "timeline.corruption_end": HEALING_MS,
        "timeline.poll": POLL_MS,
        "timeline.bin": BIN_MS,
        "monitor.hold": HOLD_MS,
        "run.duration": END_MS,
    }
    return {
        "timeline.protection": "auto",
        **{key: f"{scale.of(value)}ms" for key, value in moments.items()},
        "monitor.window": window,
        "monitor.off_loss": 5 / window,
        "monitor.on_loss": 10 / window,
    }


def _moments_s(finished: Finished, job: str = JOB) -> tuple[float, float, float]:
    """When loss starts, when protection starts, and the end: shares of the run, whatever its length."""
    times = finished.column(job, PLAIN, "timeline", "time_s")
    step = float(times[1] - times[0]) if times.size > 1 else 0.0
    end = float(times[-1]) + step
    return end * CORRUPTION_MS / END_MS, end * PROTECTION_MS / END_MS, end


def phase_values(
    finished: Finished, protection: str, phase: str, column: str, job: str = JOB
) -> NDArray[np.float64]:
    """A column over a phase, its first bin left out: rates need a bin to settle."""
    corruption, switched_on, end = _moments_s(finished, job)
    start, stop = {
        PHASES[0]: (0.0, corruption),
        PHASES[1]: (corruption, switched_on),
        PHASES[2]: (switched_on, end),
    }[phase]
    times = finished.column(job, protection, "timeline", "time_s")
    values = finished.column(job, protection, "timeline", column)
    inside = (times >= start + end * BIN_MS / END_MS - 1e-9) & (times < stop - 1e-9)
    if not np.any(inside):
        raise NotRunError(f"{job} has no bin {phase}")
    return values[inside]


def _mean(finished: Finished, protection: str, phase: str, column: str, job: str = JOB) -> float:
    return float(phase_values(finished, protection, phase, column, job).mean())


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
            f"{protection}, {phase}",
            tuple(cell(_mean, finished, protection, phase, column, job) for column in PANELS),
            digits=3,
        )
        for protection in PROTECTIONS
        for phase in PHASES
    )


def _ratio(over: tuple[str, str], under: tuple[str, str], job: str = JOB) -> Callable[[Finished], float]:
    def measure(finished: Finished) -> float:
        base = _mean(finished, *under, RATE, job)
        if base == 0:
            raise NotRunError(f"{job} has no rate to compare with")
        return _mean(finished, *over, RATE, job) / base

    return measure


def _peak_ratio(finished: Finished) -> float:
    """Largest Rx buffer without backpressure over that with it, at the published rate."""
    peaks = [
        float(phase_values(finished, protection, PHASES[2], "rx_buffer_kb").max())
        for protection in (UNPAUSED, PLAIN)
    ]
    if peaks[1] == 0:
        raise NotRunError(f"{JOB} has no Rx buffer to compare with")
    return peaks[0] / peaks[1]


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
        *_backpressure_claims(shape),
        *_monitor_claims(),
    )


def _backpressure_claims(shape: str) -> tuple[Claim, ...]:
    after, unpaused = (PLAIN, PHASES[2]), (UNPAUSED, PHASES[2])
    return (
        Claim(
            "Without backpressure the Rx buffer grows larger",
            bounded(derived(_peak_ratio), at_least(1.0), unit="x"),
            source=shape,
        ),
        Claim(
            "Without backpressure the rate stays lower, by a hundredth or more",
            bounded(
                derived(_ratio(unpaused, after)),
                at_most(0.99),
                unit="x",
                digits=4,
                remark="a loop of 100G empties beside a link of 25G, and DCTCP gives way where it does not",
            ),
            source=shape,
        ),
        Claim(
            "Without backpressure the rate stays lower, at 50G",
            bounded(derived(_ratio(unpaused, after, FASTER_JOB)), at_most(0.9), unit="x"),
            Basis.OURS,
            shape,
        ),
        Claim(
            "Without backpressure a source that does not give way fills the Rx buffer, at 25G",
            bounded(derived(_stubborn("rx_buffer_kb_max")), at_least(20.0), unit="x"),
            Basis.OURS,
            shape,
        ),
        Claim(
            "Without backpressure such a source loses half of its rate or more, at 25G",
            bounded(derived(_stubborn("effective_link_speed_gbps")), at_most(0.5), unit="x"),
            Basis.OURS,
            shape,
        ),
    )


def _stubborn(key: str) -> Callable[[Finished], float]:
    """A number without backpressure over that with it, of the source that does not give way."""

    def measure(finished: Finished) -> float:
        return finished.number(STUBBORN_JOB, UNPAUSED, key) / finished.number(STUBBORN_JOB, PLAIN, key)

    return measure


def _monitor_claims() -> tuple[Claim, ...]:
    def delay(key: str, moment_ms: int) -> Callable[[Finished], float]:
        def measure(finished: Finished) -> float:
            end = _moments_s(finished, AUTOMATIC_JOB)[2]
            late = finished.number(AUTOMATIC_JOB, PLAIN, key) - end * moment_ms / END_MS
            return late / (end * POLL_MS / END_MS)

        return measure

    return (
        Claim(
            "A monitor switches LinkGuardian on within two readings of the corruption",
            bounded(derived(delay("protected_at_s", CORRUPTION_MS)), between(0.0, 2.0), unit="readings"),
            Basis.OURS,
        ),
        Claim(
            "It takes it off again once a window has passed on the healed link",
            bounded(derived(delay("unprotected_at_s", HEALING_MS)), between(4.0, 15.0), unit="readings"),
            Basis.OURS,
        ),
        Claim(
            "It does neither more than once",
            bounded(exact(AUTOMATIC_JOB, PLAIN, "protection_changes"), between(2.0, 2.0), unit="changes"),
            Basis.OURS,
        ),
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
    place=80,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    figures=figures,
)
