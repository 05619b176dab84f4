"""The lab's own clock: what it does is computed at the time it was due, however late the machine lets it.

So these are exact on a busy machine as well: nothing here reads a clock of ours.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from lossylink.linux.lab import Lab
from lossylink.running.backends.live.stress import start_load, wait_for_guards

from .live_support import PATIENCE_SECONDS, lab, needs_live_lab, until

needs_live_lab()

#: A slow link of 20 ms one way: a backlog of a megabyte lasts long enough to be looked at.
_RATE_BPS, _RTT_MS = 10**7, 40
_FRAME_BYTES = 1000
#: FCS, preamble and gap, and the shortest frame with them, in octets.
_AROUND_BYTES, _MESSAGE_OCTETS = 24, 107
#: Sends far faster than the link, so that all frames soon wait in its queue.
_BURST_BPS = 10**9
#: What LinkGuardian and the guard add to a frame of the LAN when no ACK rides on it (G-4).
_HEADER_BYTES = 9
#: The longest message of a guard: it shows that the longest frame of the LAN gets through (G-32).
_LONGEST_MESSAGE_BYTES = 1536


def _slow_lab(**settings: Any) -> Any:
    return lab(rate_bps=_RATE_BPS, rtt_ps=_RTT_MS * 10**9, queue_bytes=4 * 10**6, **settings)


def _frames_in(milliseconds: float, *, frame_bytes: int) -> float:
    """Return how many frames a busy link sends in so long."""
    return milliseconds * 1e-3 * _RATE_BPS / ((frame_bytes + _AROUND_BYTES) * 8)


def _burst(up: Lab, frames: int) -> dict[str, Any]:
    """Send frames all at once, wait until every one has been taken, and return the counters of then."""
    before = up.link.counters()["guards"]["near"]["from_lan"]
    load = start_load(up, frames=frames, frame_bytes=_FRAME_BYTES, rate_bps=_BURST_BPS, settle_ms=1)
    seen = {}

    def all_taken() -> bool:
        seen.update(up.link.counters())
        return bool(seen["guards"]["near"]["from_lan"] - before == frames)

    until(all_taken, seconds=PATIENCE_SECONDS, what="taking the frames of a burst")
    load.communicate(timeout=PATIENCE_SECONDS)
    return seen


@pytest.mark.parametrize("protection", ["lg:copies=2", "lg-nb", "llr", "fec:5/2"])
def test_the_loop_is_the_round_trip_and_two_messages_exactly(protection: str) -> None:
    with lab(rtt_ps=2 * 10**9, protection=protection) as up:
        wait_for_guards(up)
        # The longest of sixteen counts (G-9), each a hello and a reply: those of the beginning, when hellos
        # waited for each other, are forgotten by then.
        until(
            lambda: min(guard["hellos"] for guard in up.guards()) > 40,
            seconds=PATIENCE_SECONDS,
            what="forty hellos",
        )
        counters = up.link.counters()
    message_us = _MESSAGE_OCTETS * 8 / 1e3
    for guard in counters["guards"].values():
        assert guard["loop_us"] == pytest.approx(2_000 + 2 * message_us, abs=1e-3)
        # A hello every 50 ms and a reply to each of ours (G-5); two more of each when they met.
        assert abs(guard["hellos"] - 2 * counters["uptime_seconds"] / 0.05) <= 4
        assert (guard["sessions"], guard["silences"]) == (1, 0)


@pytest.mark.parametrize("protection", ["none", "lg:copies=2"])
def test_a_backlogged_link_is_full(protection: str) -> None:
    """As many frames are under way as fit into the delay: one more or less, and rate or delay were wrong."""
    longer, messages = (0, 0) if protection == "none" else (_HEADER_BYTES, 2)
    frame_bytes = _FRAME_BYTES + longer
    # A hello and a reply may be among them: shorter than a frame, or as long as the longest (G-32).
    excess_ms = messages * (_LONGEST_MESSAGE_BYTES - frame_bytes) * 8 * 1e3 / _RATE_BPS
    least = 1 + math.floor(_frames_in(_RTT_MS / 2 - excess_ms, frame_bytes=frame_bytes))
    most = 2 + math.floor(_frames_in(_RTT_MS / 2, frame_bytes=frame_bytes)) + messages
    looks: list[int] = []
    with _slow_lab(protection=protection) as up:
        wait_for_guards(up)
        first = _burst(up, 2_000)["directions"]["forward"]["frames_offered"]
        while len(looks) < 10:
            counters = up.link.counters()
            forward = counters["directions"]["forward"]
            # From the burst on the queue has never been empty: it is not yet.
            assert counters["guards"]["near"]["queue_bytes"] > 0, f"the backlog was gone after {looks}"
            if forward["frames_offered"] > first + most:
                looks.append(forward["frames_offered"] - forward["frames_lost"] - forward["frames_delivered"])
    assert set(looks) <= set(range(least, most + 1)), looks


def test_a_loss_is_repaired_one_loop_later_and_every_frame_on_the_link_has_a_reason() -> None:
    frames, copies = 600, 2
    with _slow_lab(protection=f"lg:copies={copies}") as up:
        wait_for_guards(up)
        # Further apart than a loop; hellos count, too, before the burst.
        up.set_loss(forward="at:200,280,360")
        _burst(up, frames)
        until(
            lambda: up.guards()[1]["to_lan"] == frames,
            seconds=PATIENCE_SECONDS,
            what="delivery of every frame",
        )
        counters = up.link.counters()
    near, far = counters["guards"]["near"], counters["guards"]["far"]
    forward, sender, receiver = counters["directions"]["forward"], near["sender"], far["receiver"]
    assert (near["to_link_first"], near["queue_dropped"], receiver["given_up"]) == (frames, 0, 0)
    assert forward["frames_lost"] == 3
    # A hello among the three, one frame in thirty, is not repaired.
    assert 1 <= receiver["lost"] <= 3
    assert sender["retransmitted"] == receiver["notifications"] == receiver["lost"]
    assert receiver["retransmissions"] == copies * receiver["lost"]
    assert receiver["duplicates"] == (copies - 1) * receiver["lost"]
    # The link was full all the while: what waited behind the hole tells how long it was open. The
    # notification, the frame that is being sent when it comes and the repair itself are part of it.
    loop = math.floor(_frames_in(_RTT_MS, frame_bytes=_FRAME_BYTES + _HEADER_BYTES))
    assert loop <= receiver["buffer_max_bytes"] / _FRAME_BYTES <= loop + 4
    # Once each, and nothing beside: what arrived of the hellos is counted at the far end.
    assert forward["frames_offered"] == near["to_link"]
    named = near["to_link_first"] + copies * sender["retransmitted"] + sender["dummies"]
    hellos = near["to_link"] - near["explicit_acks"] - named
    under_way = forward["frames_offered"] - forward["frames_lost"] - forward["frames_delivered"]
    assert far["hellos"] <= hellos <= far["hellos"] + under_way + 3 - receiver["lost"]
