"""How long a trial runs and how fast its bottleneck is: decided from theory before anything is simulated.

A trial lasts until its own loss events are expected, start-up excluded, and its bottleneck exceeds what TCP
can reach, so that no queue forms. Both are estimates; the rows tell what was measured, the checks judge it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from lossylink.running.mathis.design import PICOSECONDS_PER_SECOND, Trial
from lossylink.theory import cubic, mathis, pftk

BITS_PER_BYTE: Final = 8

WIRE_OVERHEAD_BYTES: Final = 78
"""Octets around a segment on the wire: 40 TCP/IP, 14 Ethernet, 4 FCS, 20 preamble and gap."""

BOTTLENECK_HEADROOM: Final = 4.0
"""Bottleneck rate over the expected mean: a window under random loss exceeds 4 means 4 times in 10^7."""

WARMUP_LOSS_EVENTS: Final = 10
"""Loss events of start-up that are not counted: slow start overshoots by up to 2^7, ten halvings undo it."""

WARMUP_ROUND_TRIPS: Final = 20
"""Round trips that slow start may take before its first loss: 2^20 segments."""

SEGMENTS_AT_LEAST: Final = 100_000
"""Segments that a trial sends even where its loss events need fewer: they cost 0.1 s and narrow the bars."""

PROTECTED_ROUND_TRIPS: Final = 20
"""Round trips that a trial lasts over a link that hides its losses: its segments take hardly any time."""

SEGMENTS_AT_MOST: Final = 20_000_000
"""Segments after which a trial is cut short, and says so: about 20 s of one core."""

DURATION_AT_MOST_S: Final = 4 * 3600.0
"""Simulated seconds after which a trial is cut short, and says so."""

_FILLS_THE_LINK: Final = frozenset({"bbr", "bbr3"})
"""Algorithms whose rate follows the bottleneck and not the loss."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the simulator is told beside the trial itself."""

    link_rate_bps: int
    link_scaled: bool
    """Whether the bottleneck had to be raised above the configured rate to stay clear of TCP's."""
    warmup_ps: int
    measured_ps: int
    segments: float
    """Segments that the whole run is expected to send: what it costs."""
    capped: bool
    """Whether a cap left fewer loss events than asked for."""

    @property
    def duration_ps(self) -> int:
        """The whole run, warm-up included."""
        return self.warmup_ps + self.measured_ps


def plan_trial(
    trial: Trial,
    *,
    loss_events: int,
    link_rate_bps: int,
    congestion_control: str = "reno",
    rto_min_s: float = pftk.LINUX_RTO_MIN_S,
    is_protected: bool = False,
) -> Plan:
    """Plan one trial.

    Parameters
    ----------
    trial
        What is asked for.
    loss_events
        Loss events that the measured part must expect.
    link_rate_bps
        Configured bottleneck rate, raised where TCP would come near it.
    congestion_control
        Decides how fast the flow is expected to be.
    rto_min_s
        Minimum retransmission timeout in seconds, which bounds the flow where losses are frequent.
    is_protected
        Whether the link hides its losses from the flow, which then fills the link as far as it can.

    Examples
    --------
    >>> rare = Trial(index=0, mss_bytes=1460, rtt_ps=6 * 10**9, loss_ratio=3e-5, seed=1)
    >>> plan = plan_trial(rare, loss_events=100, link_rate_bps=3 * 10**9)
    >>> plan.capped, plan.link_scaled, round(plan.measured_ps / 1e12)
    (False, False, 90)
    """
    rate_bps = bottleneck_bps(trial, link_rate_bps=link_rate_bps, congestion_control=congestion_control)
    per_second = expected_segments_per_second(
        trial, link_rate_bps=rate_bps, congestion_control=congestion_control, rto_min_s=rto_min_s
    )
    least: float = SEGMENTS_AT_LEAST
    if is_protected:
        per_second = _line_segments_per_second(trial, rate_bps)
        least = max(least, PROTECTED_ROUND_TRIPS * trial.rtt_s * per_second)
    per_event = segments_per_loss_event(trial.loss_ratio)
    needed = loss_events * per_event
    affordable = min(SEGMENTS_AT_MOST, DURATION_AT_MOST_S * per_second)
    measured = min(max(needed, least), affordable)
    warmup = min(WARMUP_LOSS_EVENTS * per_event, measured)
    warmup_s = warmup / per_second + WARMUP_ROUND_TRIPS * trial.rtt_s
    return Plan(
        link_rate_bps=rate_bps,
        link_scaled=rate_bps > link_rate_bps,
        warmup_ps=round(warmup_s * PICOSECONDS_PER_SECOND),
        measured_ps=round(measured / per_second * PICOSECONDS_PER_SECOND),
        segments=measured + warmup_s * per_second,
        capped=needed > affordable,
    )


def segments_per_loss_event(loss_ratio: float) -> float:
    """Estimate the segments from one window reduction to the next.

    One loss comes every 1/p segments; those within the same window, of 4/3 of the mean at its peak, make
    one event.
    """
    window = float(mathis.window_segments(loss_ratio=loss_ratio, constant=mathis.PERIODIC))
    losses_per_event = 1 + loss_ratio * window * 4 / 3
    return losses_per_event / loss_ratio


def bottleneck_bps(trial: Trial, *, link_rate_bps: int, congestion_control: str) -> int:
    """Return the configured rate, or one with enough headroom over what the flow is expected to reach."""
    if congestion_control in _FILLS_THE_LINK:
        return link_rate_bps
    bits = (trial.mss_bytes + WIRE_OVERHEAD_BYTES) * BITS_PER_BYTE
    reached = _loss_limited_segments_per_second(trial, congestion_control) * bits
    return max(link_rate_bps, round(BOTTLENECK_HEADROOM * reached))


def expected_segments_per_second(
    trial: Trial, *, link_rate_bps: int, congestion_control: str, rto_min_s: float
) -> float:
    """Estimate the flow's rate: between the law without timeouts and the one of a 1998 stack with them.

    A modern stack lies between the two, and the geometric mean is within a factor of two of it.
    """
    line = _line_segments_per_second(trial, link_rate_bps)
    if congestion_control in _FILLS_THE_LINK:
        return line
    law = _loss_limited_segments_per_second(trial, congestion_control)
    with_timeouts = pftk.segments_per_second(
        rtt_s=trial.rtt_s,
        loss_ratio=trial.loss_ratio,
        rto_s=pftk.rto_s(rtt_s=trial.rtt_s, rto_min_s=rto_min_s),
    )
    return min(line, math.sqrt(law * float(with_timeouts)))


def _line_segments_per_second(trial: Trial, link_rate_bps: int) -> float:
    return link_rate_bps / ((trial.mss_bytes + WIRE_OVERHEAD_BYTES) * BITS_PER_BYTE)


def _loss_limited_segments_per_second(trial: Trial, congestion_control: str) -> float:
    if congestion_control == "cubic":
        window = cubic.window_segments(rtt_s=trial.rtt_s, loss_ratio=trial.loss_ratio)
    else:
        window = mathis.window_segments(loss_ratio=trial.loss_ratio, constant=mathis.PERIODIC)
    return float(window) / trial.rtt_s
