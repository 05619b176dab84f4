"""Two ends of a measurement over a link that loses, repeats and reorders: both know both directions."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossylink.measuring import probes
from lossylink.measuring.exchange import SETTLE_SECONDS, SILENT_SECONDS, Direction, Drops, Exchange
from lossylink.measuring.interface import Losses
from lossylink.measuring.probes import PART, PROBE, WORD, Tally

STEP_SECONDS = 0.005


def end(name: int, *, seconds: float = 1.0) -> Exchange:
    return Exchange(
        address=bytes(5) + bytes([name]), length_bytes=200, seconds=seconds, sender=bytes([name]) * 8
    )


@dataclass
class Wire:
    """Carries the frames of one end to the other, and knows which probes it lost and delivered."""

    seed: int
    loss: float = 0.0
    repeats: float = 0.0
    late: float = 0.0
    lost: set[int] = field(default_factory=set)
    delivered: list[int] = field(default_factory=list)
    _held: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._draws = random.Random(self.seed)

    @property
    def disorder(self) -> tuple[int, int]:
        """Probes that were delivered again, and those that came first behind one with a higher number."""
        seen: set[int] = set()
        late = 0
        for number in self.delivered:
            late += number not in seen and number < max(seen, default=-1)
            seen.add(number)
        return len(self.delivered) - len(seen), late

    def carry(self, frame: bytes) -> list[bytes]:
        """Return what arrives now."""
        arrived = self._carry(frame)
        parsed = filter(None, map(probes.parse, arrived))
        self.delivered += [one.number for one in parsed if one.kind == PROBE]
        return arrived

    def _carry(self, frame: bytes) -> list[bytes]:
        parsed = probes.parse(frame)
        assert parsed is not None
        arrived, self._held = self._held, []
        if self._draws.random() < self.loss:
            if parsed.kind == PROBE:
                self.lost.add(parsed.number)
            return arrived
        if parsed.kind == PROBE and self._draws.random() < self.late:
            self._held.append(frame)
            return arrived
        return [frame, *arrived] if self._draws.random() >= self.repeats else [frame, frame, *arrived]


def run(near: Exchange, far: Exchange, there: Wire, back: Wire, *, until: float = 60.0) -> float:
    """Let both ends run until both are over; returns the time."""
    now, drops = 0.0, Drops()
    while now < until and not (near.is_over(now) and far.is_over(now)):
        now += STEP_SECONDS
        for one, other, wire in ((near, far, there), (far, near, back)):
            frames = list(one.poll_words(now))
            if one.is_sending(now):
                frames.append(one.probe())
                one.confirm()
            else:
                one.settle(now, drops)
            for frame in frames:
                for arrived in wire.carry(frame):
                    other.handle_frame(now, arrived)
    return now


def known(one: Exchange, drops: Drops | None = None) -> tuple[Direction, Direction]:
    ours, theirs = one.directions(drops or Drops())
    assert ours is not None
    assert theirs is not None
    return ours, theirs


def lost(direction: Direction) -> set[int]:
    return {int(number) for number in np.flatnonzero(direction.record.lost)}


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.05, 0.4]), st.sampled_from([0.0, 0.1]))
def test_both_ends_know_exactly_what_both_directions_lost(seed: int, loss: float, disorder: float) -> None:
    near, far = end(1), end(2)
    there = Wire(seed, loss, repeats=disorder, late=disorder)
    back = Wire(seed + 1, loss / 2)
    run(near, far, there, back)
    for one, ours, theirs in ((near, there, back), (far, back, there)):
        known_ours, known_theirs = known(one)
        assert (lost(known_ours), lost(known_theirs)) == (ours.lost, theirs.lost)
        assert known_theirs.is_complete
        assert not one.is_stopped
    assert known(near)[0].record.frames == near.sent == known(far)[1].record.frames > 100
    for wire, one, other in ((there, near, far), (back, far, near)):
        assert (other.tally.duplicated, other.tally.reordered) == wire.disorder
        assert (known(one)[0].duplicated, known(one)[0].reordered) == wire.disorder


def test_a_wire_that_repeats_and_delays_does_so() -> None:
    near, far, there = end(1), end(2), Wire(1, repeats=0.1, late=0.1)
    run(near, far, there, Wire(2))
    duplicated, late = there.disorder
    assert duplicated > 5
    assert late > 5


def test_the_last_probes_are_counted_when_they_are_lost() -> None:
    near, far = end(1), end(2)
    there, back = Wire(0), Wire(1)
    run(near, far, there, back, until=0.9)
    there.loss = 1.0
    run_until_done = [0.9]
    while near.is_sending(run_until_done[0]):
        near.probe()
        near.confirm()
        there.lost.add(near.sent - 1)
        run_until_done[0] += STEP_SECONDS
    there.loss = 0.0
    run(near, far, there, back)
    assert len(there.lost) > 5
    assert lost(known(far)[1]) == there.lost


def test_a_stop_at_one_end_ends_both_and_loses_nothing() -> None:
    near, far = end(1, seconds=1000), end(2, seconds=1000)
    there, back = Wire(0, 0.1), Wire(1, 0.1)
    run(near, far, there, back, until=0.5)
    near.stop()
    assert run(near, far, there, back) < 5
    assert near.is_stopped
    assert far.is_stopped
    assert lost(known(near)[0]) == there.lost
    assert lost(known(near)[1]) == back.lost


def test_without_a_peer_there_is_nothing() -> None:
    near = end(1)
    for step in range(1000):
        list(near.poll_words(step * STEP_SECONDS))
    assert not near.is_met
    assert not near.is_sending(10.0)


def test_a_link_that_carries_one_way_alone_meets_nobody() -> None:
    near, far = end(1), end(2)
    run(near, far, Wire(0), Wire(1, loss=1.0), until=1.0)
    assert not near.is_met
    assert not far.is_met
    assert far.peer is not None


def test_a_peer_that_falls_silent_leaves_what_it_sent() -> None:
    near, far = end(1, seconds=1000), end(2, seconds=1000)
    back = Wire(1, loss=0.1)
    run(near, far, Wire(0), back, until=1.0)
    heard = 1.0
    assert not near.is_over(heard + SILENT_SECONDS - 0.1)
    assert near.is_over(heard + SILENT_SECONDS)
    ours, theirs = near.directions(Drops())
    assert ours is None
    assert theirs is not None
    assert not theirs.is_complete
    assert lost(theirs) == {number for number in back.lost if number < near.tally.highest}


def test_what_the_boxes_drop_is_told_to_both() -> None:
    near, far = end(1), end(2)
    now = 0.0
    while now < 10:
        now += STEP_SECONDS
        for one, other, drops in ((near, far, Drops(3, 20)), (far, near, Drops(100, 7000))):
            frames = list(one.poll_words(now))
            if one.is_sending(now):
                frames.append(one.probe())
                one.confirm()
            one.settle(now, drops)
            for frame in frames:
                other.handle_frame(now, frame)
    ours, theirs = known(near, Drops(3, 20))
    assert (ours.dropped, theirs.dropped) == (3 + 7000, 100 + 20)
    ours, theirs = known(far, Drops(100, 7000))
    assert (ours.dropped, theirs.dropped) == (100 + 20, 3 + 7000)


def test_an_account_waits_for_late_probes() -> None:
    near, far = end(1), end(2)
    run(near, far, Wire(0), Wire(1), until=0.5)
    near.stop()
    far.stop()
    assert not near.is_sending(0.5)
    for frame in near.poll_words(0.55):
        far.handle_frame(0.55, frame)
    assert not far.is_sending(0.55)
    far.settle(0.55 + SETTLE_SECONDS - 0.01, Drops())
    words = [probes.parse(frame) for frame in far.poll_words(0.6)]
    assert b'"parts": 0' in words[0].body  # type: ignore[union-attr]
    far.settle(0.55 + SETTLE_SECONDS, Drops())
    words = [probes.parse(frame) for frame in far.poll_words(0.7)]
    assert b'"parts": 1' in words[0].body  # type: ignore[union-attr]


def test_an_account_waits_for_probes_that_the_last_word_overtook() -> None:
    near, far = end(1, seconds=2.0), end(2, seconds=0.2)
    there = Wire(0)
    now = run(near, far, there, Wire(1), until=1.9)
    late = near.probe()
    near.confirm()
    assert not far.is_sending(now)
    assert not near.is_sending(now + 0.5)
    for frame in near.poll_words(now + 0.5):
        far.handle_frame(now + 0.5, frame)
    far.settle(now + 0.6, Drops())
    far.handle_frame(now + 0.7, late)
    far.settle(now + 0.7 + SETTLE_SECONDS - 0.01, Drops())
    assert not any(b'"parts": 1' in frame for frame in far.poll_words(now + 3))
    far.settle(now + 0.7 + SETTLE_SECONDS, Drops())
    for frame in far.poll_words(now + 4):
        near.handle_frame(now + 4, frame)
    for frame in near.poll_words(now + 4.1):
        far.handle_frame(now + 4.1, frame)
    for frame in far.poll_words(now + 4.2):
        near.handle_frame(now + 4.2, frame)
    assert lost(known(near)[0]) == set()


def test_strangers_change_nothing() -> None:
    near, far = end(1), end(2)
    run(near, far, Wire(0), Wire(1), until=0.5)
    before, stranger = near.tally.highest, end(3)
    for kind in (PROBE, PART, WORD):
        frame = probes.build(
            kind, target=bytes(6), source=bytes(6), sender=b"stranger", number=10**6, body=b"{}"
        )
        near.handle_frame(0.5, frame)
    for frame in stranger.poll_words(0.5):
        near.handle_frame(0.5, frame)
    assert (near.tally.highest, near.peer) == (before, bytes([2]) * 8)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"sent": -1}', b'{"hears": "", "sent": 1e99, "parts": 0, "wants": null}']
)
def test_a_word_that_makes_no_sense_is_passed_over(body: bytes) -> None:
    near = end(1)
    frame = probes.build(WORD, target=bytes(6), source=bytes(6), sender=b"stranger", number=0, body=body)
    near.handle_frame(0.0, frame)
    assert near.peer is None


@given(st.integers(14, 199), st.integers(0, 7))
def test_a_frame_with_a_wrong_bit_is_counted_and_no_probe(at: int, bit: int) -> None:
    near, far = end(1), end(2)
    run(near, far, Wire(0), Wire(1), until=0.1)
    frame = bytearray(near.probe())
    frame[at] ^= 1 << bit
    before = far.tally.highest
    far.handle_frame(0.1, bytes(frame))
    # Whose first octets are others' is not ours to count.
    assert far.tally.altered == (1 if at >= 18 else 0)
    assert far.tally.highest == before


@given(st.lists(st.integers(0, 200), min_size=1))
def test_a_tally_is_the_set_of_what_came(numbers: list[int]) -> None:
    tally = Tally()
    for number in numbers:
        tally.enter(number)
    assert tally.duplicated == len(numbers) - len(set(numbers))
    record = tally.record(300)
    assert {int(one) for one in np.flatnonzero(~record.lost)} == set(numbers)
    assert tally.record(None).frames == max(numbers) + 1


def test_what_a_box_drops_is_bounded_by_what_both_counters_say() -> None:
    before = Losses(ring=5, interface=10, backlog=100, sending=7)
    now = Losses(ring=6, interface=13, backlog=102, sending=11)
    assert before.until(now, at_sockets=8, refused=3) == Drops(sending=1, receiving=1 + 2 + 8)
