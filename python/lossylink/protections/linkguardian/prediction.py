"""What LinkGuardian would do for a link: copies, losses left, speed, delays and buffers.

Delays are sums over the switch profile. The ordered mode's speed has no closed form where the reorder buffer
is a recirculation loop that is no faster than the link: such a loop empties only while the sender pauses. A
short run of the simulator gives the time that a loss costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from lossylink.plan.link import BITS_PER_BYTE, NANOSECOND_S, Link
from lossylink.plan.prediction import BOUND, ESTIMATE, EXACT, SIMULATED, Figure, Prediction
from lossylink.plan.stress import PROBE_FRAMES, simulate
from lossylink.protections.linkguardian.limits import PUBLISHED_HOLES, most_copies
from lossylink.scenario.profiles import thresholds_at
from lossylink.theory import fec, linkguardian

PROBE_LOSS_RATIO: Final = 1e-3
"""The short run sees at least this loss, or it would see too few; what one costs hardly depends on it."""

CONTROL_WIRE_BYTES: Final = 84
"""Octets of a control frame on the line (LG-37): 64 and the gap."""

RARE: Final = 1e-6
"""What a bound may leave out: bursts of losses that one window in a million sees."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """LinkGuardian's parameters for a link."""

    ordered: bool
    copies: int
    unlimited_holes: bool

    @property
    def spelling(self) -> str:
        """As `lossylink run` takes it."""
        holes = ",holes=unlimited" if self.unlimited_holes else ""
        return f"{'lg' if self.ordered else 'lg-nb'}:copies={self.copies}{holes}"


def choose(link: Link, *, target: float, ordered: bool) -> Options:
    """Return the fewest copies that meet the target, and lift the cap on requests where it stands in the way.

    Examples
    --------
    >>> link = Link(rate_bps=10**11, propagation_ps=0, loss_ratio=1e-3)
    >>> choose(link, target=1e-8, ordered=True).spelling
    'lg:copies=2'
    """
    needed = int(linkguardian.copies(loss_ratio=link.loss_ratio, target_loss_ratio=target))
    copies = min(needed, most_copies())
    capped = Options(ordered=ordered, copies=copies, unlimited_holes=False)
    if effective_loss(capped, link.loss_ratio) <= target * (1 + 1e-9):
        return capped
    return Options(ordered=ordered, copies=copies, unlimited_holes=True)


def effective_loss(options: Options, loss_ratio: float) -> float:
    """Loss left after one round of copies; of a longer run of losses only the first five are requested."""
    copies_lost = float(linkguardian.effective_loss_ratio(loss_ratio=loss_ratio, copies=options.copies))
    if options.unlimited_holes:
        return copies_lost
    beyond_cap = loss_ratio**PUBLISHED_HOLES
    return (1 - beyond_cap) * copies_lost + beyond_cap * loss_ratio


def predict(link: Link, options: Options) -> Prediction:
    """Predict what LinkGuardian does for a link."""
    loss = Figure(effective_loss(options, link.loss_ratio), EXACT)
    speed = Figure(nonblocking_speed_gbps(link, options, link.loss_ratio), EXACT)
    buffer = Figure(0.0, EXACT)
    typical_s, worst_s = _retransmission_s(link, options)
    time_lost_s = 0.0
    if options.ordered:
        probe = _probe(link, options)
        time_lost_s = probe.time_lost_s
        loss, speed, buffer = _in_order(link, options, loss, _receiver_buffer(link, worst_s), probe)

    def at(loss_ratio: float) -> tuple[float, float]:
        speed_gbps = ordered_speed_gbps(link, options, loss_ratio, time_lost_s)
        return effective_loss(options, loss_ratio), speed_gbps

    return Prediction(
        protection=options.spelling,
        effective_loss_ratio=loss,
        effective_speed_gbps=speed,
        added_latency_us_typical=Figure(typical_s * 1e6, ESTIMATE),
        added_latency_us_worst=Figure(worst_s * 1e6, BOUND),
        sender_buffer_kb=Figure(_sender_buffer_bytes(link) / 1e3, BOUND),
        receiver_buffer_kb=buffer,
        at=at,
    )


def _in_order(
    link: Link, options: Options, loss: Figure, buffer: Figure, probe: Probe
) -> tuple[Figure, Figure, Figure]:
    """Loss, speed and reorder buffer of the ordered mode, corrected by the short run."""
    speed = ordered_speed_gbps(link, options, link.loss_ratio, probe.time_lost_s)
    given_up = link.loss_ratio * probe.given_up_ratio
    if given_up > (loss.value or 0):
        # Copies that come after the timeout of the ordered side come too late.
        loss = Figure(given_up, SIMULATED)
    if probe.receiver_kb > (buffer.value or 0):
        # Losses come faster than the loop empties: pauses no longer bound what it holds.
        buffer = Figure(probe.receiver_kb, SIMULATED)
    return loss, Figure(speed, SIMULATED), buffer


def nonblocking_speed_gbps(link: Link, options: Options, loss_ratio: float) -> float:
    """Speed that copies and headers leave."""
    speed = linkguardian.nonblocking_speed_bps(
        rate_bps=link.rate_bps,
        loss_ratio=loss_ratio,
        copies=options.copies,
        frame_wire_bytes=link.wire_bytes,
    )
    return float(speed) * (1 - effective_loss(options, loss_ratio)) / 1e9


def ordered_speed_gbps(link: Link, options: Options, loss_ratio: float, time_lost_s: float) -> float:
    """The same, with a time lost by each corrupted frame."""
    losses_per_second = loss_ratio / link.serialisation_s()
    return nonblocking_speed_gbps(link, options, loss_ratio) / (1 + losses_per_second * time_lost_s)


@dataclass(frozen=True)
class Probe:
    """What the short run saw."""

    time_lost_s: float
    """Time for which a corrupted frame stops the ordered mode."""
    given_up_ratio: float
    """Corrupted frames that the ordered side gave up, of all corrupted frames."""
    receiver_kb: float
    """The fullest that the reorder buffer was."""


def _probe(link: Link, options: Options) -> Probe:
    """Run the ordered mode for a moment."""
    probed = replace(link, loss_ratio=max(link.loss_ratio, PROBE_LOSS_RATIO))
    row = simulate(probed, options.spelling, packets=PROBE_FRAMES)
    unhindered = nonblocking_speed_gbps(probed, options, probed.loss_ratio)
    slowdown = unhindered / row["effective_link_speed_gbps"] - 1
    losses_per_second = probed.loss_ratio / probed.serialisation_s()
    given_up = row["effective_loss_rate"] / probed.loss_ratio
    return Probe(
        time_lost_s=max(0.0, slowdown / losses_per_second),
        given_up_ratio=given_up,
        receiver_kb=row["rx_buffer_kb_max"],
    )


def _retransmission_s(link: Link, options: Options) -> tuple[float, float]:
    """How late a lost frame is: typically, and at worst.

    The next frame shows the loss; a notification goes back; the copy is found when it comes round, waits for
    the frame that is being sent, and follows. At worst it has just been looked at, and waits behind copies of
    the losses around it.
    """
    profile, frame_s = link.profile, link.serialisation_s(linkguardian.HEADER_BYTES)
    extra_ns = profile["multicast_extra_ns"] if options.copies > 1 else 0
    fixed_ns = (
        profile["notification_port_ns"] + _control_return_ns(link) + profile["retransmit_ns"] + extra_ns
    )
    back_s = (fixed_ns + profile["retransmission_pipeline_ns"]) * NANOSECOND_S + 2 * link.propagation_s
    round_s, longest_round_s = _tx_rounds_s(link)
    typical_s = frame_s + back_s + round_s + frame_s / 2 + frame_s
    alone_s = frame_s + back_s + longest_round_s + 2 * frame_s
    others = _losses_within(frames=math.ceil(alone_s / frame_s), loss_ratio=link.loss_ratio)
    return typical_s, alone_s + (others + 1) * options.copies * frame_s


def _control_return_ns(link: Link) -> float:
    """From the port back until an acknowledgement or a notification takes effect, on an idle line."""
    return float(link.profile["control_return_ns"]) + _control_line_ns(link)


def _control_line_ns(link: Link) -> float:
    """How long a control frame occupies the line back."""
    return CONTROL_WIRE_BYTES * BITS_PER_BYTE / link.rate_bps / NANOSECOND_S


def _losses_within(*, frames: int, loss_ratio: float) -> int:
    """The losses among so many frames that are exceeded once in a million."""
    for losses in range(frames):
        more = fec.block_failure_ratio(
            data_packets=frames - losses, parity_packets=losses, loss_ratio=loss_ratio
        )
        if float(more) < RARE:
            return losses
    return frames


def _tx_rounds_s(link: Link) -> tuple[float, float]:
    """One round of the Tx loop, empty and full; a switch with memory finds a copy at once."""
    profile = link.profile
    if not profile["recirculates"]:
        return 0.0, 0.0
    fixed_s = profile["tx_loop_fixed_ns"] * NANOSECOND_S
    # As the simulator has it: a port is as fast as the profile says, and never slower than the link.
    round_s = fixed_s + link.wire_bytes * BITS_PER_BYTE / max(profile["recirculation_bps"], link.rate_bps)
    if link.rate_bps < profile["recirculation_bps"]:
        return round_s, 2 * round_s
    # A loop no faster than the link takes as long as what it holds.
    return round_s, fixed_s + _held_s(link)


def _held_s(link: Link) -> float:
    """How long the Tx buffer holds a copy: until it is acknowledged, and looked at once more."""
    profile = link.profile
    stages = ("data_pipeline_ns", "ack_register_ns", "ack_cycle_ns")
    there_ns = sum(profile[stage] for stage in stages) - profile["copy_first_check_ns"]
    there_and_back_ns = float(there_ns + _control_return_ns(link))
    held_s: float = there_and_back_ns * NANOSECOND_S + 2 * link.propagation_s + link.serialisation_s()
    if not profile["recirculates"]:
        return held_s
    if link.rate_bps >= profile["recirculation_bps"]:
        # The loop is full: a copy looked at just before its acknowledgement waits as long again.
        return 2 * held_s
    round_s: float = profile["tx_loop_fixed_ns"] * NANOSECOND_S + link.serialisation_s()
    return math.ceil(held_s / round_s) * round_s


def _sender_buffer_bytes(link: Link) -> float:
    return link.bytes_in(_held_s(link)) + 2 * link.frame_bytes


def _receiver_buffer(link: Link, worst_s: float) -> Figure:
    """What arrives behind a hole, or, where that is less, up to the pause and while it takes effect."""
    profile = link.profile
    pause_bytes = thresholds_at(profile["threshold"], rate_bps=link.rate_bps)["pause_bytes"]
    reaction_ns = profile["timer_period_ns"] + profile["timer_packet_ns"] + profile["pause_reaction_ns"]
    reaction_ns += _control_line_ns(link)
    reaction_ns += profile["rx_loop_fixed_ns"] if profile["recirculates"] else 0
    paused = float(pause_bytes + link.bytes_in(reaction_ns * NANOSECOND_S + 2 * link.propagation_s))
    if not profile["recirculates"]:
        paused = min(paused, link.bytes_in(worst_s) + link.frame_bytes)
    return Figure(paused / 1e3, BOUND)
