"""What LinkGuardian would do for a link: copies, losses left, speed, delays and buffers.

Delays and buffers are those of `delays`. The ordered mode's speed has no closed form where the reorder buffer
is a recirculation loop that is no faster than the link: such a loop empties only while the sender pauses. A
short run of the simulator gives the time that a loss costs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Final

from lossylink import _native
from lossylink.declared.protections.linkguardian.closed_forms import Options, effective_loss
from lossylink.declared.protections.linkguardian.limits import PUBLISHED_HOLES
from lossylink.planning.families.linkguardian import delays
from lossylink.planning.link import MOST_PROBE_FRAMES, Link
from lossylink.planning.losses import LONGEST_RUN, RARE, longest_run, mean_run
from lossylink.planning.prediction import (
    BOUND,
    CHAIN,
    ESTIMATE,
    EXACT,
    SIMULATED,
    Figure,
    Prediction,
    frames_showing,
)
from lossylink.planning.stress import configured, late_us, latest_us, simulate, simulated_loss
from lossylink.scenario.loss import Loss
from lossylink.theory import linkguardian
from lossylink.theory.bursts import requested_share

PROBE_LOSS_RATIO: Final = 1e-3
"""The short run sees at least this loss, or it would see too few; what one costs hardly depends on it."""

CROWDED: Final = 0.1
"""Copies to a frame from which they count as many."""

NEAR: Final = 0.3
"""How far an estimate may be from the short run's median and still stand."""


def choose(link: Link, *, target: float, ordered: bool) -> Options:
    """Return the fewest copies that meet the target, and lift the cap on requests where it stands in the way.

    How many that are is decided where the protocol is (LG-19): p^(N+1) for independent losses, and for bursts
    the chain of the original and its copies.

    Examples
    --------
    >>> link = Link(rate_bps=10**11, propagation_ps=0, loss_ratio=1e-3)
    >>> choose(link, target=1e-8, ordered=True).spelling
    'lg:copies=2'
    """
    copies = _native.copies_for(_described(link), target)
    capped = Options(ordered=ordered, copies=copies, unlimited_holes=False)
    if loss_left(capped, link) <= target * (1 + 1e-9):
        return capped
    return Options(ordered=ordered, copies=copies, unlimited_holes=True)


def loss_left(options: Options, link: Link) -> float:
    """Loss left on a link: the closed form, or what bursts take of each original and its copies (LG-19)."""
    if link.chain is None:
        return effective_loss(options, link.frame_loss_ratio(linkguardian.HEADER_BYTES))
    holes = None if options.unlimited_holes else PUBLISHED_HOLES
    return _native.copies_leave(_described(link), options.copies, holes)


def _described(link: Link) -> str:
    """The link for the native module; a list or a recording of losses as the chain with its bursts."""
    chain = None if link.is_coded else link.chain
    bursts = link if chain is None else replace(link, loss=Loss.of(chain.native))
    return json.dumps(configured(bursts, "lg"))


def predict(link: Link, options: Options, *, rare: float = RARE) -> Prediction:
    """Predict what LinkGuardian does for a link.

    Copies late more rarely than ``rare`` do not count. Where copies may be late more often, a run shows that
    they are not, if the planner runs so many frames.
    """
    loss = Figure(loss_left(options, link), _exact(link))
    speed = Figure(nonblocking_speed_gbps(link, options), _exact(link))
    typical = Figure(delays.typical_s(link, copies=options.copies) * 1e6, ESTIMATE)
    worst_s = delays.retransmission_worst_s(link, copies=options.copies)
    worst = Figure(worst_s * 1e6, BOUND)
    buffer, time_lost_s = Figure(0.0, EXACT), 0.0
    together = mean_run(link)
    probe = _probe(link, options, rare) if options.ordered or _is_crowded(link, options) else None
    if probe is not None:
        loss = _given_up(link, options, loss, probe, rare)
    if probe is not None and options.ordered:
        time_lost_s = probe.time_lost_s
        speed = Figure(ordered_speed_gbps(link, options, time_lost_s), SIMULATED)
        typical = probe.typical(link, typical)
        buffer = probe.buffer(
            Figure(delays.receiver_buffer_bytes(link, worst_s, copies=options.copies) / 1e3, BOUND)
        )
        worst = probe.worst(link, Figure(_ordered_worst_us(link, options, loss), BOUND))

    def at(loss_ratio: float) -> tuple[float, float]:
        other = link.at(loss_ratio)
        return loss_left(options, other), ordered_speed_gbps(other, options, time_lost_s)

    return Prediction(
        protection=options.spelling,
        effective_loss_ratio=loss,
        effective_speed_gbps=speed,
        added_latency_us_typical=typical,
        added_latency_us_worst=worst,
        sender_buffer_kb=Figure(delays.sender_buffer_bytes(link) / 1e3, BOUND),
        receiver_buffer_kb=buffer,
        lost_together=together,
        frames_run=probe.frames if probe is not None else 0,
        at=at,
    )


def _is_crowded(link: Link, options: Options) -> bool:
    """Whether a short run checks the chain, which leaves out that copies of other losses stand in between.

    They do where copies are many, and where a burst lets frames through that show losses while it lasts.
    """
    chain = link.chain
    if chain is None:
        return False
    return options.copies * link.loss_ratio > CROWDED or 0 < max(chain.loss_good, chain.loss_bad) < 1


def _exact(link: Link) -> str:
    return EXACT if link.chain is None else CHAIN


def _given_up(link: Link, options: Options, loss: Figure, probe: Probe, rare: float) -> Figure:
    """The loss, unless the short run saw another: copies too late for the ordered side, or too many.

    Where copies may come too late, a run that saw none allows as many as the upper end of its interval.
    """
    expected, is_crowded = loss_left(options, probe.link), _is_crowded(link, options)
    seen = simulated_loss(probe.row)
    assert loss.value is not None
    assert seen.value is not None
    assert seen.low is not None
    assert seen.high is not None
    # What the probe loses of its corrupted frames, this link loses of its own.
    share = link.loss_ratio / probe.link.loss_ratio
    is_as_expected = seen.low <= expected and (expected <= seen.high or not is_crowded)
    if not is_as_expected and (is_crowded or seen.value > expected):
        return Figure(seen.value * share, SIMULATED, seen.low * share, seen.high * share)
    if _is_ever_late(link, options, rare):
        return replace(loss, low=loss.value, high=max(loss.value, seen.high * share))
    return loss


def _is_ever_late(link: Link, options: Options, rare: float) -> bool:
    """Whether the ordered mode may give frames up whose copies come, more often than is said."""
    return options.ordered and delays.is_ever_late(link, copies=options.copies, rare=rare)


def _ordered_worst_us(link: Link, options: Options, loss: Figure) -> float:
    """The bound of the ordered mode, in microseconds."""
    loss_ratio = loss.value or 0.0
    together = _lost_together(link, options, loss_ratio)
    worst_s = delays.ordered_worst_s(link, copies=options.copies, loss_ratio=loss_ratio, together=together)
    return worst_s * 1e6


def _lost_together(link: Link, options: Options, loss_ratio: float) -> tuple[float, int]:
    """Frames of a run that are given up one after another: usually, and but for once in a million frames.

    Of a long run those beyond the cap are. The copies of neighbours follow each other: two bursts that took
    one and its copies take the next if the first lasts one frame more, and the second one set of copies.
    """
    chain = link.chain
    if chain is None:
        return 1.0, 1
    if not options.unlimited_holes:
        return chain.mean_run, max(1, longest_run(link) - PUBLISHED_HOLES)
    goes_on = (1 - 1 / chain.mean_run) ** (options.copies + 1)
    neighbours = 0
    while neighbours < LONGEST_RUN and loss_ratio * goes_on ** (neighbours + 1) >= RARE:
        neighbours += 1
    return 1 / (1 - goes_on), 1 + neighbours


def nonblocking_speed_gbps(link: Link, options: Options) -> float:
    """Speed that copies and headers leave."""
    chain, p = link.chain, link.frame_loss_ratio(linkguardian.HEADER_BYTES)
    if chain is not None and not options.unlimited_holes:
        p *= requested_share(chain, holes=PUBLISHED_HOLES)
    speed = linkguardian.nonblocking_speed_bps(
        rate_bps=link.rate_bps, loss_ratio=p, copies=options.copies, frame_wire_bytes=link.wire_bytes
    )
    return float(speed) * (1 - loss_left(options, link)) / 1e9


def ordered_speed_gbps(link: Link, options: Options, time_lost_s: float) -> float:
    """Speed of a link that loses a time by each corrupted frame."""
    losses_per_second = link.loss_ratio / link.serialisation_s()
    return nonblocking_speed_gbps(link, options) / (1 + losses_per_second * time_lost_s)


@dataclass(frozen=True)
class Probe:
    """What the short run of the ordered mode saw."""

    link: Link
    """The link that was run: it loses no less than `PROBE_LOSS_RATIO`."""
    row: dict[str, Any]
    time_lost_s: float
    """Time for which a corrupted frame stops the ordered mode."""
    frames: int
    """Frames that were sent."""

    def typical(self, link: Link, estimate: Figure) -> Figure:
        """The estimate, unless the run of this link saw something else: holes that wait for each other."""
        assert estimate.value is not None
        late = late_us(self.row)
        if late is None or self.link is not link or abs(late - estimate.value) <= NEAR * estimate.value:
            return estimate
        return Figure(late, SIMULATED)

    def worst(self, link: Link, bound: Figure) -> Figure:
        """The bound, unless losses come faster than the loop empties: then nothing bounds it."""
        latest = latest_us(self.row)
        if latest is None or self.link is not link or latest <= (bound.value or 0):
            return bound
        return Figure(latest, SIMULATED)

    def buffer(self, bound: Figure) -> Figure:
        """The bound, unless losses come faster than the loop empties: pauses no longer bound it."""
        seen_kb = self.row["rx_buffer_kb_max"]
        return Figure(seen_kb, SIMULATED) if seen_kb > (bound.value or 0) else bound


def _probe(link: Link, options: Options, rare: float) -> Probe:
    """Run the ordered mode for a moment."""
    probed = link if link.loss_ratio >= PROBE_LOSS_RATIO or link.is_listed else link.at(PROBE_LOSS_RATIO)
    frames = _probe_frames(link, probed, options, rare)
    row = simulate(probed, options.spelling, packets=frames)
    unhindered = nonblocking_speed_gbps(probed, options)
    slowdown = unhindered / row["effective_link_speed_gbps"] - 1
    losses_per_second = probed.loss_ratio / probed.serialisation_s()
    time_lost_s = max(0.0, slowdown / losses_per_second)
    return Probe(link=probed, row=row, time_lost_s=time_lost_s, frames=frames)


def _probe_frames(link: Link, probed: Link, options: Options, rare: float) -> int:
    """Return the frames of the run: as many as may show ``rare``, where its losses count.

    A list or a recording shows nothing beyond its end.
    """
    counts = _is_ever_late(link, options, rare) or _is_crowded(link, options)
    if link.is_listed or not counts:
        return link.probe_frames
    needed = frames_showing(
        rare * probed.loss_ratio / link.loss_ratio,
        expected=loss_left(options, probed),
        most=MOST_PROBE_FRAMES,
        together=mean_run(probed),
    )
    return max(link.probe_frames, needed)
