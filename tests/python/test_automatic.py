"""`guard --auto`: what it decides from the counts of a link that is made up, with the real monitors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from lossylink.linux.lab.automatic import Automatic, Decision
from lossylink.linux.lab.monitor import Policy

#: 1e-5 as by default, and a window that is short enough for a test.
_POLICY = Policy(on_loss=1e-3, hold_seconds=5.0)
_FRAMES_A_SECOND = 10_000


@dataclass
class _Link:
    """A link under a guard; a look every second."""

    automatic: Automatic = field(default_factory=lambda: Automatic(_POLICY))
    now: float = 0.0
    leaving: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("frames", "lost", "contents", "missing"), 0)
    )
    arriving: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("frames", "lost", "contents", "missing"), 0)
    )
    queue: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("to_link", "to_link_first", "queue_dropped"), 0)
    )
    decisions: list[tuple[float, Decision]] = field(default_factory=list)

    def run(self, seconds: int, **a_second: Any) -> list[str]:
        """Let seconds pass, each with so many losses; the protections that were decided on."""
        began = len(self.decisions)
        for _ in range(seconds):
            self._pass(**a_second)
            decision = self.automatic.look(self._report(), self.now)
            if decision is not None:
                self.decisions.append((self.now, decision))
            self.now += 1.0
        return [decision.protection for _, decision in self.decisions[began:]]

    def _pass(
        self, *, lost: int = 0, back: int = 0, missing: int = 0, extra: int = 0, dropped: int = 0
    ) -> None:
        frames = _FRAMES_A_SECOND + extra
        for counts, more in (
            (self.leaving, (frames, lost, _FRAMES_A_SECOND, missing)),
            (self.arriving, (_FRAMES_A_SECOND, back, _FRAMES_A_SECOND, 0)),
            (self.queue, (frames, _FRAMES_A_SECOND, dropped)),
        ):
            for key, count in zip(counts, more, strict=True):
                counts[key] += count

    def _report(self) -> dict[str, Any]:
        return {**self.queue, "leaving": dict(self.leaving), "arriving": dict(self.arriving)}


def test_a_sound_link_is_left_alone() -> None:
    link = _Link()
    assert link.run(60) == []
    assert link.run(60, lost=1) == []  # 1e-4, a tenth of what asks for protection


# MON-4, MON-7, MON-8: 1e-2 asks for three copies, and ten thousand frames without loss for none.
def test_protection_comes_and_goes_with_the_corruption() -> None:
    link = _Link()
    link.run(5)
    assert link.run(10, lost=100, extra=400) == ["lg:copies=3"]
    assert link.decisions[0][0] == 5.0, "the first look at a corrupting link"
    assert link.run(30) == ["off"]


# LG-47: losses on the way back alone protect nothing.
def test_the_way_back_decides_the_copies_of_control_frames() -> None:
    link = _Link()
    link.run(5)
    assert link.run(10, back=100) == []
    assert link.run(10, lost=100, back=100, extra=400) == ["lg:copies=3,control_copies=3"]


def test_protection_that_does_not_help_goes_off_for_longer_and_longer() -> None:
    link = _Link()
    link.run(5)
    # What the link loses stays missing, and as much again.
    found = link.run(300, lost=100, missing=200, extra=400)
    assert found == ["lg:copies=3", "off"] * 3
    times = [at for at, _ in link.decisions]
    assert times[2] - times[1] == pytest.approx(60, abs=2)
    assert times[4] - times[3] == pytest.approx(120, abs=2)
    assert link.decisions[1][1].because.startswith("protection does harm: ")


def test_repetitions_that_displace_frames_are_harm() -> None:
    link = _Link()
    link.run(5)
    busy = {"lost": 20, "extra": 400, "dropped": 300}
    assert link.run(20, **busy)[:2] == ["lg:copies=2", "off"]


def test_a_queue_that_drops_without_repetitions_is_no_harm() -> None:
    link = _Link()
    link.run(5)
    assert link.run(40, lost=100, extra=50, dropped=5_000) == ["lg:copies=3"]


def test_protection_that_was_worth_it_is_tried_again_soon() -> None:
    link = _Link()
    link.run(5)
    bad = {"lost": 100, "missing": 200, "extra": 400}
    assert link.run(64, **bad) == ["lg:copies=3", "off", "lg:copies=3"]
    assert link.run(200, lost=100, extra=400) == [], "the second time it is worth it, for longer than 120 s"
    assert link.run(130, **bad)[:2] == ["off", "lg:copies=3"]
    off, on = (at for at, _ in link.decisions[3:5])
    assert on - off == pytest.approx(60, abs=2), "and not 120"


def test_earlier_gains_excuse_no_harm() -> None:
    link = _Link()
    link.run(5)
    link.run(3600, lost=100, extra=400)
    # Some of the frames of the last minute are still balanced with those before.
    assert link.run(75, lost=100, missing=200, extra=400)[0] == "off"
