"""How late LinkGuardian's frames are, and what its buffers hold: sums over the switch profile.

A corrupted frame is late by the time until its copy comes. In order, frames behind it wait as well. In a
recirculation loop they wait longer than for the copy: the loop holds them in no useful order, and each goes
on only when it comes round in its turn.
"""

from __future__ import annotations

import math
from typing import Final

from lossylink.planning.link import BITS_PER_BYTE, NANOSECOND_S, Link
from lossylink.planning.losses import RARE, longest_run, losses_within
from lossylink.scenario.profiles import thresholds_at
from lossylink.theory import linkguardian

MOST_GIVE_UPS: Final = 10_000
"""Where the sum of the terms is lost in rounding, the mean is absurd anyway."""

CONTROL_WIRE_BYTES: Final = 84
"""Octets of a control frame on the line (LG-37): 64 and the gap."""


def typical_s(link: Link, *, copies: int) -> float:
    """How late a lost frame is typically.

    The next frame shows the loss; a notification goes back; the copy is found when it comes round, waits for
    the frame that is being sent, and follows.
    """
    frame_s = link.serialisation_s(linkguardian.HEADER_BYTES)
    round_s, _ = _tx_rounds_s(link)
    return frame_s + _back_s(link, copies) + round_s + frame_s / 2 + frame_s


def _back_s(link: Link, copies: int) -> float:
    """From the receiver's decision to the copy at the receiver, waits left out."""
    profile = link.profile
    extra_ns = profile["multicast_extra_ns"] if copies > 1 else 0
    fixed_ns = (
        profile["notification_port_ns"] + _control_return_ns(link) + profile["retransmit_ns"] + extra_ns
    )
    fixed_ns += profile["retransmission_pipeline_ns"]
    back_s: float = fixed_ns * NANOSECOND_S + 2 * link.propagation_s
    return back_s


def _control_return_ns(link: Link) -> float:
    """From the port back until an acknowledgement or a notification takes effect, on an idle line."""
    return float(link.profile["control_return_ns"]) + _control_line_ns(link)


def _control_line_ns(link: Link) -> float:
    """How long a control frame occupies the line back."""
    return CONTROL_WIRE_BYTES * BITS_PER_BYTE / link.rate_bps / NANOSECOND_S


def retransmission_worst_s(link: Link, *, copies: int, rare: float = RARE) -> float:
    """How late a lost frame is at worst when nothing waits for it, but for once in a million, or as rarely.

    The run of losses that it begins goes on, and its last frame is followed by one that shows it; the copy
    has just been looked at; and it waits behind copies of the losses around it, and its own that are lost. A
    frame that waits at the sender while copies go first is late by less.
    """
    frame_s = link.serialisation_s(linkguardian.HEADER_BYTES)
    _, longest_round_s = _tx_rounds_s(link)
    alone_s = longest_run(link, rare=rare) * frame_s + _back_s(link, copies) + longest_round_s + 2 * frame_s
    others = losses_within(link, frames=math.ceil(alone_s / frame_s), rare=rare)
    return alone_s + (others + 1) * copies * frame_s


def is_ever_late(link: Link, *, copies: int, rare: float) -> bool:
    """Whether a copy may come when the ordered mode has given its frame up, more often than is said.

    The wait is that after the last frame that went on, which was one frame before the lost one was due
    (LG-21).
    """
    ticks = thresholds_at(link.profile["threshold"], rate_bps=link.rate_bps)["ack_no_timeout_ticks"]
    wait_s: float = ticks * link.profile["timer_period_ns"] * NANOSECOND_S
    frame_s = link.serialisation_s(linkguardian.HEADER_BYTES)
    latest_s = retransmission_worst_s(link, copies=copies, rare=rare) + frame_s
    return bool(latest_s > wait_s)


def ordered_worst_s(link: Link, *, copies: int, loss_ratio: float, together: tuple[float, int]) -> float:
    """How late any frame of the ordered mode is at worst, but for once in a million.

    The worst frame stands behind a hole. It waits

    * for the hole to be filled (`retransmission_worst_s`), or to be given up: ackNoTimeout after the last
      frame that went on, a timer period at most on top (LG-21), once for each hole that is given up;
    * in a recirculation loop, for its turn to come round (`_rounds_s`), and one full round more for each
      other run of holes in the window, because its copies come round like everything else;
    * at the sender, while that is paused: those frames are behind everything that the loop holds, so the wait
      for it is theirs too, and the way of the resume frame comes on top (LG-23).

    A give-up counts even where it is rarer than once in a million; other holes beside it count then only as
    far as both together are not rarer than that. Left out: a lost resume frame, which costs the pause's
    quanta, and losses so frequent that the loop never empties, where the short run says how long.

    Parameters
    ----------
    link, copies
        The link and the copies of each retransmission.
    loss_ratio
        Frames that stay lost.
    together
        How many of them come in a row: on average, and at most but for once in a million.
    """
    frame_s = link.serialisation_s(linkguardian.HEADER_BYTES)
    profile = link.profile
    filled_s = retransmission_worst_s(link, copies=copies)
    timer_s = profile["timer_period_ns"] * NANOSECOND_S
    ticks = thresholds_at(profile["threshold"], rate_bps=link.rate_bps)["ack_no_timeout_ticks"]
    given_up_s = (ticks + 2) * timer_s
    window = math.ceil((max(filled_s, given_up_s) + _full_round_s(link, copies)) / frame_s)
    usual, most = together
    expected = window * loss_ratio / usual
    give_ups = max(1, most, math.ceil(_poisson_most(expected) * usual))
    shown_s = longest_run(link) * frame_s
    resume_ns = profile["timer_period_ns"] + profile["timer_packet_ns"] + profile["resume_flight_ns"]
    resume_s: float = (resume_ns + _control_line_ns(link)) * NANOSECOND_S + link.propagation_s

    def behind(wait_s: float, holes: int) -> float:
        rounds_s = _rounds_s(link, wait_s, copies) + holes * _full_round_s(link, copies)
        return shown_s + wait_s + rounds_s + resume_s

    beside = _holes_within(link, frames=window, rare=min(1.0, RARE / max(expected, RARE)))
    return max(
        behind(give_ups * given_up_s, beside),
        behind(min(filled_s, given_up_s), _holes_within(link, frames=window, rare=RARE)),
    )


def _holes_within(link: Link, *, frames: int, rare: float) -> int:
    """The runs of losses among so many frames that are exceeded as rarely."""
    if link.chain is None:
        return losses_within(link, frames=frames, rare=rare)
    return _poisson_most(frames * link.loss_ratio / link.chain.mean_run, rare=rare)


def _rounds_s(link: Link, wait_s: float, copies: int) -> float:
    """How long the loop takes until everything that came while a hole was open has gone on in its turn.

    In each round of the loop new frames come between those that are in it. What came in one round goes on in
    one round, so there are as many rounds as passed while the hole was open. A round lasts as long as the way
    round, or as long as all that is in the loop. That grows by what comes meanwhile, less what goes on, up to
    a pause. There are never more rounds than frames.
    """
    profile = link.profile
    if not profile["recirculates"]:
        return 0.0
    empty_s, full_s, share = _empty_round_s(link), _full_round_s(link, copies), _load(link)
    # What is in the loop after a time t passes in t times the load; until that is an empty round, rounds are.
    filled_s = empty_s / share
    rounds = min(wait_s, filled_s) / empty_s
    if wait_s > filled_s:
        rounds += math.log(wait_s / filled_s) / share
    frame_s = link.serialisation_s(linkguardian.HEADER_BYTES)
    count = math.ceil(min(rounds, wait_s / frame_s))
    total_s, in_loop_s = 0.0, share * wait_s
    for _ in range(count):
        in_loop_s = min(full_s, in_loop_s * (1 + share - 1 / count))
        total_s += max(empty_s, in_loop_s)
    return total_s


def _load(link: Link) -> float:
    """Share of the loop that the line fills."""
    loop_bps: int = max(link.profile["recirculation_bps"], link.rate_bps)
    return link.rate_bps / loop_bps


def _empty_round_s(link: Link) -> float:
    rate_bps = link.rate_bps / _load(link)
    held = link.wire_bytes + linkguardian.HEADER_BYTES
    fixed: float = link.profile["rx_loop_fixed_ns"] * NANOSECOND_S
    return fixed + held * BITS_PER_BYTE / rate_bps


def _full_round_s(link: Link, copies: int) -> float:
    """A round of the loop when it holds the most; a switch with memory has none."""
    if not link.profile["recirculates"]:
        return 0.0
    # Frames take cells in the account, octets on the loop.
    octets = receiver_buffer_bytes(link, math.inf, copies=copies)
    return _empty_round_s(link) + octets * BITS_PER_BYTE / (link.rate_bps / _load(link))


def _poisson_most(mean: float, *, rare: float = RARE) -> int:
    """The count that is exceeded once in a million at most, or as rarely as is said."""
    count, term = 0, math.exp(-mean)
    beyond = -math.expm1(-mean)
    while beyond >= rare and count < MOST_GIVE_UPS:
        count += 1
        term *= mean / count
        beyond -= term
    return count


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
    """How long the Tx buffer holds a copy: until it is acknowledged, and looked at once more.

    What is lost in a run is neither acknowledged nor asked for before the run has ended.
    """
    profile = link.profile
    stages = ("data_pipeline_ns", "ack_register_ns", "ack_cycle_ns")
    there_ns = sum(profile[stage] for stage in stages) - profile["copy_first_check_ns"]
    there_and_back_ns = float(there_ns + _control_return_ns(link))
    held_s: float = there_and_back_ns * NANOSECOND_S + 2 * link.propagation_s
    held_s += longest_run(link) * link.serialisation_s()
    if not profile["recirculates"]:
        return held_s
    if link.rate_bps >= profile["recirculation_bps"]:
        # The loop is full: a copy looked at just before its acknowledgement waits as long again.
        return 2 * held_s
    round_s: float = profile["tx_loop_fixed_ns"] * NANOSECOND_S + link.serialisation_s()
    return math.ceil(held_s / round_s) * round_s


def sender_buffer_bytes(link: Link) -> float:
    """The most that the Tx buffer holds."""
    return link.bytes_in(_held_s(link)) + 2 * link.frame_bytes


def receiver_buffer_bytes(link: Link, worst_s: float, *, copies: int) -> float:
    """What arrives behind a hole, or, where that is less, up to the pause and while it takes effect.

    A pause does not stop the copies of a run of losses, and those behind a hole are held like all else.
    """
    profile = link.profile
    pause_bytes = thresholds_at(profile["threshold"], rate_bps=link.rate_bps)["pause_bytes"]
    reaction_ns = profile["timer_period_ns"] + profile["timer_packet_ns"] + profile["pause_reaction_ns"]
    reaction_ns += _control_line_ns(link)
    reaction_ns += profile["rx_loop_fixed_ns"] if profile["recirculates"] else 0
    paused = float(pause_bytes + link.bytes_in(reaction_ns * NANOSECOND_S + 2 * link.propagation_s))
    paused += (longest_run(link) - 1) * copies * link.frame_bytes
    if not profile["recirculates"]:
        paused = min(paused, link.bytes_in(worst_s) + link.frame_bytes)
    return paused
