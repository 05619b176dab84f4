"""What stays lost behind two switches of the FEC model: ``python -m tests.p4.fec_model_experiment [FRAMES]``.

    sender -- near0 [ near switch ] == link, 1e-1 marked ==> [ far switch ] far0 -- receiver

Run it as root inside ``unshare --net``. Every frame is told apart at the far end, so nothing is estimated
from counters. Marks of different packets are independent. Lost frames are not: those of a block that fails
are lost together, so blocks are what the exact interval counts. The simulator's own figure stands beside.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lossylink.errors import LossylinkError, UserError
from lossylink.linux.bmv2.common import threshold
from lossylink.linux.bmv2.fec_model import FAMILY, FecModelSwitch, Parameters
from lossylink.statistics.estimates import Estimate, binomial_interval, mean_interval
from lossylink.theory.fec import residual_loss_ratio

from .bench import DifferenceError
from .frames import FRAME_BYTES, numbered, numbers, shown
from .line import Line, line_of_two, wait
from .simulated import stress

_CODES = ((5, 1), (5, 5))
_LOSS_RATIO = 1e-1
_FRAMES = 60_000
_CONFIDENCE = 0.999
#: Packets under way at most: fewer than the far switch's cable holds, so that the model alone loses any.
_UNDER_WAY = 20
_PATIENCE_SECONDS = 10.0
#: So many blocks must have failed before their losses are taken for normal.
_MANY = 30


@dataclass(frozen=True)
class Figures:
    """What one code left lost, and what theory says."""

    size: int
    rows: int
    loss_ratio: float
    """Share of packets that are marked, as the 20 bits of a draw have it."""
    frames: int
    lost: int
    """Frames that never came."""
    recovered: int
    """Marked frames that came."""
    marked: Estimate
    """Share of packets of either kind that the faulty link marked, with its 99.9 % interval."""
    failed: Estimate
    """Share of blocks that lost a frame, with its exact 99.9 % interval."""
    failed_expected: float
    residual: Estimate
    """Share of frames lost; the 99.9 % interval is over blocks, and absent where too few of them failed."""
    residual_expected: float
    seconds: float

    def holds(self) -> bool:
        """Return whether theory lies in all intervals."""
        return (
            self.marked.contains(self.loss_ratio)
            and self.failed.contains(self.failed_expected)
            and (self.residual.is_exact or self.residual.contains(self.residual_expected))
        )

    def line(self) -> str:
        """Return the figures in a line."""
        return (
            f"({self.size},{self.rows}) {self.frames} frames in {self.seconds:.0f} s: "
            f"{shown(self.marked)} marked, expected {self.loss_ratio:.4g}; "
            f"{shown(self.residual)} of the frames lost, expected {self.residual_expected:.3g}; "
            f"{shown(self.failed)} of the blocks failed, expected {self.failed_expected:.3g}; "
            f"{self.recovered} recovered"
        )


def measure(line: Line[FecModelSwitch], *, size: int, rows: int, frames: int = _FRAMES) -> Figures:
    """Send frames under a code and count what stays lost.

    Raises
    ------
    UserError
        The last block would not be full.
    DifferenceError
        A frame came twice, or changed, or a packet was lost elsewhere than in the model.
    """
    if frames <= 0 or frames % size:
        raise UserError(f"{frames} frames do not fill blocks of {size}")
    for switch in (line.near, line.far):
        switch.start_over()
    line.near.set(Parameters(is_on=True, size=size, rows=rows))
    line.near.corrupt(_LOSS_RATIO)
    begun = time.monotonic()
    came = Counter(_send(line, [numbered(number) for number in range(frames)], size=size, rows=rows))
    seconds = time.monotonic() - begun
    for number, times in came.items():
        if times > 1:
            raise DifferenceError(f"frame {number} came {times} times")
    state, sent = line.far.detail()["decoder"], line.near.corruption()
    if len(came) != state["intact"] + state["recovered"]:
        raise DifferenceError(f"{len(came)} frames came, {state['intact'] + state['recovered']} were let go")
    if astray := state["forgotten"] + state["late"] + state["malformed"]:
        raise DifferenceError(f"{astray} packets were forgotten, late or malformed")

    is_lost = np.array([number not in came for number in range(frames)]).reshape(-1, size)
    by_block = is_lost.mean(axis=1)
    lost, failed = int(is_lost.sum()), int((by_block > 0).sum())
    loss_ratio = threshold(_LOSS_RATIO) / (1 << 20)
    residual = Estimate.exact(lost / frames)
    if failed >= _MANY:
        residual = mean_interval(by_block, confidence=_CONFIDENCE)
    return Figures(
        size=size,
        rows=rows,
        loss_ratio=loss_ratio,
        frames=frames,
        lost=lost,
        recovered=state["recovered"],
        marked=binomial_interval(sent["corrupted"], sent["frames"], confidence=_CONFIDENCE),
        failed=binomial_interval(failed, len(by_block), confidence=_CONFIDENCE),
        failed_expected=failing_blocks(size, rows, loss_ratio),
        residual=residual,
        residual_expected=float(
            residual_loss_ratio(data_packets=size, parity_packets=rows, loss_ratio=loss_ratio)
        ),
        seconds=seconds,
    )


def failing_blocks(size: int, rows: int, loss_ratio: float) -> float:
    """Return the share of blocks that lose a frame: more than h packets are marked, hence one of data."""
    packets = size + rows
    return math.fsum(
        math.comb(packets, marked) * loss_ratio**marked * (1 - loss_ratio) ** (packets - marked)
        for marked in range(rows + 1, packets + 1)
    )


def _send(line: Line[FecModelSwitch], frames: Sequence[bytes], *, size: int, rows: int) -> list[int]:
    """Send blocks as fast as the far switch takes them in, and return the numbers of the frames that came."""
    at_once = max(1, _UNDER_WAY // (size + rows)) * size
    came: list[int] = []
    for begin in range(0, len(frames), at_once):
        for frame in frames[begin : begin + at_once]:
            line.sender.send(frame)
        packets = (min(begin + at_once, len(frames)) // size) * (size + rows)
        wait("packets arrived", line.far.arrived, packets.__eq__)
        came += numbers(line.receiver)
    wait("packets circulate", lambda: int(line.far.detail()["decoder"]["circulating"]), (0).__eq__)
    let_go = line.far.detail()["decoder"]
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while len(came) < let_go["intact"] + let_go["recovered"] and time.monotonic() < deadline:
        came += numbers(line.receiver, seconds=0.02)
    return came


def main(words: Sequence[str]) -> int:
    """Measure the published codes, with as many frames as said, and return the exit code."""
    frames = int(words[0]) if words else _FRAMES
    holds = True
    try:
        with line_of_two(FAMILY, FecModelSwitch) as line:
            for size, rows in _CODES:
                figures = measure(line, size=size, rows=rows, frames=frames)
                print(figures.line(), flush=True)
                row = stress(f"fec-model:{size}/{rows}", _LOSS_RATIO, frame_bytes=FRAME_BYTES)
                share, packets = row["effective_loss_rate"], row["packets_sent"]
                print(f"      simulator: {share:.3g} of {packets} frames lost", flush=True)
                holds = holds and figures.holds()
    except (DifferenceError, LossylinkError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not holds:
        print("error: theory lies outside an interval", file=sys.stderr)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
