"""What is run, what a run gives phase by phase, and the quantities that claims are about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Job, Scale

JOB = "25G, DCTCP"
FASTER_JOB = "50G, DCTCP"
"""Ours: there a recirculation port of 100G is no longer four times as fast as the link."""
STUBBORN_JOB = "25G, saturated source"
"""Ours: a source that does not give way when frames are given up."""
ROUND_JOB = "25G, loop of exactly 100G"
"""Ours: between recirculation ports that are four times as fast as the link to the bit.

Whole at any scale: one loss that TCP repairs costs a protected phase of 100 ms 3 % of its rate.
"""
AUTOMATIC_JOB = "25G, monitor"
"""Ours: a monitor decides, and the link heals."""
PLAIN, UNPAUSED = "lg", "lg:backpressure=off"
PROTECTIONS = (PLAIN, UNPAUSED)

CORRUPTION_MS, PROTECTION_MS, END_MS, BIN_MS = 1000, 3000, 5000, 100
"""Moments of the published shape: loss starts, protection starts, end; and the width of a bin."""

BUFFER = "200KB"
"""Bound of each recirculation buffer in the published runs."""
LOOP = "99Gbps"
"""Assumed: a recirculation port of 100G carries a hundredth less of frames, for what the switch adds.

Chosen after a look at the results: at 100 Gb/s, four times the link's rate to the bit, the loop empties by
itself; from 95 to 99 Gb/s the results hardly differ.
"""

FASTER_SHARE = 5
"""The faster run is this many times shorter, and whole at any scale: TCP needs that long to grow back."""

STUBBORN_PACKETS = 1_000_000
"""Whatever the scale: growth begins with losses close together, for which it takes so many."""
FLOWS = 2
"""Assumed: their number was not published. Between the published hosts two are the least that fill 25G.

With four, which recover side by side, the loss costs 24 % of the rate in place of 61 %.
"""
HEALING_MS, POLL_MS, HOLD_MS = 3000, 100, 500
"""With the monitor: the link heals; between two readings; least time before it takes protection off."""
WINDOW_FRAMES = 1_000_000
"""Half a second of full frames at 25G."""

FRAME_OCTETS, GAP_OCTETS = 1518, 20
"""A full frame, and what is between two on the wire: preamble and gap."""
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
    whole = {key: f"{value}ms" for key, value in moments.items()}
    switch = {"switch.rx_buffer": BUFFER, "switch.tx_buffer": BUFFER}
    small = {"flow.count": FLOWS, **switch}
    shorter = {key: f"{value // FASTER_SHARE}ms" for key, value in moments.items()}
    return (
        Job(
            JOB,
            "timeline",
            PROTECTIONS,
            {**small, **settings, "switch.recirculation": LOOP},
            5.0 / scale.divisor,
        ),
        Job(ROUND_JOB, "timeline", PROTECTIONS, {**small, **whole}, 5.0),
        Job(
            FASTER_JOB,
            "timeline",
            PROTECTIONS,
            {"link.rate": "50Gbps", "flow.count": 2 * FLOWS, **shorter},
            2.0,
        ),
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


def moments_s(finished: Finished, job: str = JOB) -> tuple[float, float, float]:
    """When loss starts, when protection starts, and the end: shares of the run, whatever its length."""
    times = finished.column(job, PLAIN, "timeline", "time_s")
    step = float(times[1] - times[0]) if times.size > 1 else 0.0
    end = float(times[-1]) + step
    return end * CORRUPTION_MS / END_MS, end * PROTECTION_MS / END_MS, end


def bin_s(finished: Finished, job: str = JOB) -> float:
    """Width of a bin."""
    times = finished.column(job, PLAIN, "timeline", "time_s")
    return float(times[1] - times[0])


def phase_values(
    finished: Finished, protection: str, phase: str, column: str, job: str = JOB
) -> NDArray[np.float64]:
    """A column over a phase, its first bin left out: rates need a bin to settle."""
    corruption, switched_on, end = moments_s(finished, job)
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


def phase_mean(finished: Finished, protection: str, phase: str, column: str, job: str = JOB) -> float:
    """The mean of a column over a phase."""
    return float(phase_values(finished, protection, phase, column, job).mean())


def rate_ratio(finished: Finished, job: str, over: tuple[str, str], under: tuple[str, str]) -> float:
    """The mean rate of one protection in one phase over that of another."""
    base = phase_mean(finished, *under, RATE, job)
    if base == 0:
        raise NotRunError(f"{job} has no rate to compare with")
    return phase_mean(finished, *over, RATE, job) / base


def unpaused_gbps(finished: Finished) -> float:
    """Rate without backpressure as the published figure counts it: octets without the gap."""
    wire_gbps = phase_mean(finished, UNPAUSED, PHASES[2], RATE)
    return wire_gbps * FRAME_OCTETS / (FRAME_OCTETS + GAP_OCTETS)


def unpaused_kb(finished: Finished) -> float:
    """The fullest Rx buffer in bins as wide as the published ones, their mean."""
    most_kb = phase_values(finished, UNPAUSED, PHASES[2], "rx_buffer_kb")
    bins = max(1, round(most_kb.size * bin_s(finished) * 1e3 / BIN_MS))
    return float(np.mean([part.max() for part in np.array_split(most_kb, bins)]))


def unpaused_repeats(finished: Finished) -> float:
    """Repetitions in bins as wide as the published ones, whatever the scale."""
    repeats = phase_mean(finished, UNPAUSED, PHASES[2], "retransmissions")
    return repeats * BIN_MS / 1e3 / bin_s(finished)


def readings_after(finished: Finished, moment_ms: float, key: str) -> float:
    """How many readings of the monitor lie between a moment of the run and what a key says."""
    end = moments_s(finished, AUTOMATIC_JOB)[2]
    late = finished.number(AUTOMATIC_JOB, PLAIN, key) - end * moment_ms / END_MS
    return late / (end * POLL_MS / END_MS)
