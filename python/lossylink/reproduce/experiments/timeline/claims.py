"""The published shape of the time line as claims, and ours about backpressure and the monitor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lossylink.reproduce.experiments.timeline.runs import (
    AUTOMATIC_JOB,
    BIN_MS,
    CORRUPTION_MS,
    END_MS,
    FASTER_JOB,
    HEALING_MS,
    JOB,
    PHASES,
    PLAIN,
    POLL_MS,
    RATE,
    ROUND_JOB,
    STUBBORN_JOB,
    UNPAUSED,
    bin_s,
    moments_s,
    phase_mean,
    phase_values,
)
from lossylink.reproduce.framework.judging import at_least, at_most, between, bounded
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Published
from lossylink.reproduce.shared.measures import derived, exact

FRAME_OCTETS, GAP_OCTETS = 1518, 20
"""A full frame, and what is between two on the wire: preamble and gap."""


def _ratio(over: tuple[str, str], under: tuple[str, str], job: str = JOB) -> Callable[[Finished], float]:
    def measure(finished: Finished) -> float:
        base = phase_mean(finished, *under, RATE, job)
        if base == 0:
            raise NotRunError(f"{job} has no rate to compare with")
        return phase_mean(finished, *over, RATE, job) / base

    return measure


def _unpaused_gbps(finished: Finished) -> float:
    """Rate without backpressure as the published figure counts it: octets without the gap."""
    wire_gbps = phase_mean(finished, UNPAUSED, PHASES[2], RATE)
    return wire_gbps * FRAME_OCTETS / (FRAME_OCTETS + GAP_OCTETS)


def _unpaused_kb(finished: Finished) -> float:
    """The most in bins as wide as the published ones, their mean."""
    most_kb = phase_values(finished, UNPAUSED, PHASES[2], "rx_buffer_kb")
    bins = max(1, round(most_kb.size * bin_s(finished) * 1e3 / BIN_MS))
    return float(np.mean([part.max() for part in np.array_split(most_kb, bins)]))


def _unpaused_repeats(finished: Finished) -> float:
    """In bins as wide as the published ones, whatever the scale."""
    repeats = phase_mean(finished, UNPAUSED, PHASES[2], "retransmissions")
    return repeats * BIN_MS / 1e3 / bin_s(finished)


def claims(_published: Published) -> tuple[Claim, ...]:
    """The published shape, as ratios of phase means."""
    before, during, after = ((PLAIN, phase) for phase in PHASES)
    shape = "time-line figure"
    return (
        Claim(
            "Loss costs the flows a fifth of their rate or more",
            bounded(derived(_ratio(during, before)), at_most(0.8), unit="x"),
            Basis.ASSUMED,
            shape,
            ("flow.count",),
        ),
        Claim(
            "Within a bin of switching LinkGuardian on, the rate is back to nine tenths or more",
            bounded(derived(_ratio(after, before)), at_least(0.9), unit="x"),
            Basis.ASSUMED,
            shape,
            ("flow.count",),
        ),
        *_backpressure_claims(shape),
        *_monitor_claims(),
    )


def _backpressure_claims(shape: str) -> tuple[Claim, ...]:
    after, unpaused = (PLAIN, PHASES[2]), (UNPAUSED, PHASES[2])
    assumed = ("flow.count", "switch.recirculation")
    return (
        Claim(
            "Without backpressure the rate stays at 18 to 21 Gb/s, gaps between frames left out",
            bounded(derived(_unpaused_gbps), between(18.0, 21.0), unit="Gb/s"),
            Basis.ASSUMED,
            shape,
            (*assumed, "ae-hosts:receive_segment_ns"),
        ),
        Claim(
            "Without backpressure the Rx buffer stays at its bound of 200 KB",
            bounded(derived(_unpaused_kb), between(190.0, 200.0), unit="KB"),
            Basis.ASSUMED,
            shape,
            assumed,
        ),
        Claim(
            "Without backpressure 300 to 950 packets are repeated end to end in 100 ms",
            bounded(derived(_unpaused_repeats), between(300.0, 950.0), unit="repetitions"),
            Basis.ASSUMED,
            shape,
            assumed,
        ),
        Claim(
            "Where a port is four times as fast as the link to the bit, backpressure makes no difference",
            bounded(derived(_ratio(unpaused, after, ROUND_JOB)), at_least(0.98), unit="x", digits=4),
            Basis.ASSUMED,
            f"ours, beside the {shape}",
            assumed,
        ),
        Claim(
            "Without backpressure the rate stays lower, at 50G",
            bounded(derived(_ratio(unpaused, after, FASTER_JOB)), at_most(0.9), unit="x"),
            Basis.ASSUMED,
            f"ours, beside the {shape}",
            ("flow.count",),
        ),
        Claim(
            "Without backpressure a source that does not give way fills the Rx buffer, at 25G",
            bounded(derived(_stubborn("rx_buffer_kb_max")), at_least(20.0), unit="x"),
            Basis.ASSUMED,
            f"ours, beside the {shape}",
            ("tofino1:rx_buffer_max_bytes",),
        ),
        Claim(
            "Without backpressure such a source loses half of its rate or more, at 25G",
            bounded(derived(_stubborn("effective_link_speed_gbps")), at_most(0.5), unit="x"),
            Basis.PREDICTION,
            f"ours, beside the {shape}",
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
            end = moments_s(finished, AUTOMATIC_JOB)[2]
            late = finished.number(AUTOMATIC_JOB, PLAIN, key) - end * moment_ms / END_MS
            return late / (end * POLL_MS / END_MS)

        return measure

    return (
        Claim(
            "A monitor switches LinkGuardian on within two readings of the corruption",
            bounded(derived(delay("protected_at_s", CORRUPTION_MS)), between(0.0, 2.0), unit="readings"),
            Basis.PREDICTION,
            "ours",
        ),
        Claim(
            "It takes it off again once a window has passed on the healed link",
            bounded(derived(delay("unprotected_at_s", HEALING_MS)), between(4.0, 15.0), unit="readings"),
            Basis.PREDICTION,
            "ours",
        ),
        Claim(
            "It does neither more than once",
            bounded(exact(AUTOMATIC_JOB, PLAIN, "protection_changes"), between(2.0, 2.0), unit="changes"),
            Basis.PREDICTION,
            "ours",
        ),
    )
