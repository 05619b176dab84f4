"""What stays lost behind two switches under LinkGuardian.

Run ``python -m tests.p4.linkguardian_experiment [FRAMES]`` as root inside ``unshare --net``. It is the stress
test of the artifact at the pace of software. Every frame is told apart at the far end, so no count is an
estimate. The simulator's own figure stands beside.
What it cannot show is rates and delays: a loop takes milliseconds here, microseconds in the published switch.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from lossylink.errors import LossylinkError
from lossylink.linux.bmv2.common import Pace, threshold
from lossylink.linux.bmv2.linkguardian import FAMILY, LinkGuardianSwitch, Parameters
from lossylink.statistics.estimates import Estimate, binomial_interval

from .bench import DifferenceError
from .frames import FRAME_BYTES, numbered, numbers, shown
from .line import Line, line_of_two
from .simulated import stress

_FRAMES = 50_000
_CONFIDENCE = 0.999
#: Frames under way at most: fewer than a switch's cable holds, so that the link alone loses any.
_UNDER_WAY = 12
#: Positions before the space repeats, less one (LG-1).
_NUMBERS = (1 << 17) - 1
#: Time between two looks at a switch.
_LOOK_SECONDS = 2e-4
#: The loops of a machine that does nothing else.
_PACE = Pace(loop_packets_per_second=10_000)


@dataclass(frozen=True)
class Case:
    """One stress test."""

    in_order: bool
    loss_ratio: float
    copies: int

    @property
    def protection(self) -> str:
        """The protection, as a user writes it."""
        return f"lg{'' if self.in_order else '-nb'}:copies={self.copies}"


CASES = tuple(
    Case(in_order, loss_ratio, copies)
    for loss_ratio, copies in ((1e-2, 1), (5e-2, 1), (5e-2, 2))
    for in_order in (True, False)
)


@dataclass(frozen=True)
class Figures:
    """What one case left lost, and what theory says."""

    case: Case
    frames: int
    corrupted: Estimate
    """Share of all that crossed the link that it corrupted, with its 99.9 % interval."""
    retransmitted: int
    given_up: int
    residual: Estimate
    """Share of frames that never came, with its exact 99.9 % interval."""
    expected: float
    """p^(N+1)."""
    seconds: float

    def holds(self) -> bool:
        """Return whether theory lies in both intervals."""
        return self.corrupted.contains(_drawn(self.case.loss_ratio)) and self.residual.contains(self.expected)

    def line(self) -> str:
        """Return the figures in a line."""
        return (
            f"{self.case.protection} at {self.case.loss_ratio:g}: {self.frames} frames "
            f"in {self.seconds:.0f} s; {shown(self.corrupted)} corrupted; {self.retransmitted} sent again, "
            f"{self.given_up} given up; {shown(self.residual)} lost for good, expected {self.expected:.3g}"
        )


def measure(line: Line[LinkGuardianSwitch], case: Case, *, frames: int = _FRAMES) -> Figures:
    """Send frames and count those that never come.

    Raises
    ------
    DifferenceError
        A frame came twice, changed, or out of order where order is kept; or what the switches count differs.
    """
    for switch in (line.near, line.far):
        switch.drain()
    time.sleep(_settling_seconds())
    parameters = Parameters(is_on=True, in_order=case.in_order, copies=case.copies)
    for switch in (line.near, line.far):
        switch.clear()
        switch.set(parameters)
        switch.start_over()
    line.far.corrupt(case.loss_ratio)
    begun = time.monotonic()
    came = _send(line, frames)
    seconds = time.monotonic() - begun
    if len(set(came)) != len(came):
        raise DifferenceError(f"{len(came) - len(set(came))} frames came twice")
    if case.in_order and came != sorted(came):
        raise DifferenceError("frames came out of order")
    near, far, link = line.near.state(), line.far.state(), line.far.corruption()
    if near["sender"]["outstanding"]:
        raise DifferenceError(f"{near['sender']['outstanding']} frames were never acknowledged")
    if near["sender"]["data"] != frames:
        raise DifferenceError(f"the near switch numbered {near['sender']['data']} frames of {frames}")
    lost = frames - len(came)
    if case.in_order and far["receiver"]["given_up"] != lost:
        raise DifferenceError(f"{lost} frames never came, {far['receiver']['given_up']} were given up")
    return Figures(
        case=case,
        frames=frames,
        corrupted=binomial_interval(link["corrupted"], link["frames"], confidence=_CONFIDENCE),
        retransmitted=near["sender"]["retransmitted"],
        given_up=far["receiver"]["given_up"],
        residual=binomial_interval(lost, frames, confidence=_CONFIDENCE),
        expected=_drawn(case.loss_ratio) ** (case.copies + 1),
        seconds=seconds,
    )


def _send(line: Line[LinkGuardianSwitch], frames: int) -> list[int]:
    """Send frames as fast as the far switch acknowledges them, and return the numbers of those that came."""
    came: list[int] = []
    for begin in range(0, frames, _UNDER_WAY):
        burst = range(begin, min(begin + _UNDER_WAY, frames))
        for number in burst:
            line.sender.send(numbered(number))
        _await(line, burst[-1] & _NUMBERS)
        came += numbers(line.receiver)
    # What was asked for comes, or is given up, in its own time.
    settling = time.monotonic() + _settling_seconds()
    while time.monotonic() < settling:
        if arrived := numbers(line.receiver, seconds=0.02):
            came += arrived
            settling = time.monotonic() + _settling_seconds()
    return came


def _await(line: Line[LinkGuardianSwitch], position: int) -> None:
    """Wait until a position is acknowledged, as a lost one is, too: the far switch has asked for it.

    Where the last frame and all dummies are lost, nothing is, until the next frame comes.
    """
    deadline = time.monotonic() + _settling_seconds()
    while line.near.acknowledged() != position and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)


def _settling_seconds() -> float:
    """Return how long the ordered side waits for one frame at most, and a little."""
    return 2 * (Parameters().reload + 1) / _PACE.timer_packets_per_second


def _drawn(loss_ratio: float) -> float:
    """Return the ratio that 20 bits of a draw make of another."""
    return threshold(loss_ratio) / (1 << 20)


def main(words: Sequence[str]) -> int:
    """Measure every case, with as many frames as said, and return the exit code."""
    frames = int(words[0]) if words else _FRAMES
    holds = True
    try:
        with line_of_two(FAMILY, LinkGuardianSwitch, _PACE) as line:
            for case in CASES:
                figures = measure(line, case, frames=frames)
                print(figures.line(), flush=True)
                row = stress(case.protection, case.loss_ratio, frame_bytes=FRAME_BYTES)
                share, packets = row["effective_loss_rate"], row["packets_sent"]
                print(f"      simulator: {share:.3g} of {packets} frames lost for good", flush=True)
                holds = holds and figures.holds()
    except (DifferenceError, LossylinkError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not holds:
        print("error: theory lies outside an interval", file=sys.stderr)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
