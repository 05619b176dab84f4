"""Frames that are lost one behind the other: how long their bursts are on a busy line.

Frames of one size follow each other with the smallest gap. A group of codewords that fails takes along every
frame that touches it, and a frame may touch several groups. Three things of a frame decide over the next one:
its place in its first group, the fate of its last group, and the state of the line's chain behind that group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray
from lossylink.theory.codewords import GAP_BYTES, PREAMBLE_BYTES
from lossylink.theory.phy.codes import LineCode
from lossylink.theory.phy.frames import fates, group_bytes
from lossylink.theory.phy.line import Line, LineOptions

IntArray = NDArray[np.int64]
_WHOLE, _MENDED, _BROKEN = (slice(2 * case, 2 * case + 2) for case in range(3))
"""Cases of a frame so far: no group that it touches failed; one failed, but not the last one; the last one
failed. Each case has both states of the line's chain."""


def loss_bursts(
    code: LineCode,
    *,
    bit_error_ratio: float,
    frame_bytes: int,
    longest: int = 100,
    **options: Unpack[LineOptions],
) -> FloatArray:
    """Return the lengths of bursts of lost frames, of frames of one size back to back.

    A burst is frames in a row that are lost, between two that get through.

    Parameters
    ----------
    frame_bytes
        Octets of a frame with its check sequence; preamble and gap come on top.
    longest
        Greatest length with a share of its own.
    bit_error_ratio, **options
        Errors and order of the line, as of `Line`.

    Returns
    -------
    FloatArray
        Shares of the bursts that have 1, 2, ... ``longest`` frames, and a last entry for longer ones.

    Raises
    ------
    ValueError
        No frame is lost, or none gets through.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> shares = loss_bursts(CODES["rs544"], bit_error_ratio=3e-4, frame_bytes=64)
    >>> [round(float(share), 3) for share in shares[6:10]]
    [0.0, 0.536, 0.464, 0.0]
    """
    lengths = int(arguments.count("longest", longest, at_least=1))
    busy = _BusyLine.of(code, Line(bit_error_ratio, **options), frame_bytes)
    places, going = busy.begun(lengths)
    shares = np.zeros(lengths + 1)
    begun = going.sum()
    for length in range(lengths):
        places, going, ended = busy.next(places, going)
        shares[length] = ended / begun
    shares[-1] = going.sum() / begun
    return shares


def mean_loss_burst_frames(
    code: LineCode, *, bit_error_ratio: float, frame_bytes: int, **options: Unpack[LineOptions]
) -> float:
    """Return the mean length of bursts of lost frames: lost frames over those behind one that gets through.

    Parameters and errors are those of `loss_bursts`. Of rare errors the mean is `frames_hit_by_group`,
    and 1 where groups are so short that one may hit no frame.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> round(mean_loss_burst_frames(CODES["rs544"], bit_error_ratio=3e-4, frame_bytes=64), 3)
    8.464
    """
    busy = _BusyLine.of(code, Line(bit_error_ratio, **options), frame_bytes)
    lost = busy.first(busy.places(1))[:, _MENDED.start :].sum()
    return float(lost / busy.begun(1)[1].sum())


def frames_hit_by_group(code: LineCode, *, frame_bytes: int, interleaved: int = 1) -> float:
    """Return how many frames one failed group takes along on a busy line, on average.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> [round(frames_hit_by_group(CODES["rs544"], frame_bytes=size), 2) for size in (64, 1518)]
    [8.46, 1.41]
    """
    length = int(arguments.count("frame_bytes", frame_bytes, at_least=1)) + PREAMBLE_BYTES
    reach = group_bytes(code, Line(0.0, interleaved=interleaved)) + length - 1
    return float(reach / (length + GAP_BYTES))


@dataclass(frozen=True)
class _BusyLine:
    """Frames back to back. Lengths are in parts of an octet, so that a group is whole parts, too."""

    group: int
    reach: int
    space: int
    start: FloatArray
    ok: FloatArray
    failed: FloatArray

    @classmethod
    def of(cls, code: LineCode, line: Line, frame_bytes: int) -> _BusyLine:
        """Return a line that is busy with frames of one size."""
        length = int(arguments.count("frame_bytes", frame_bytes, at_least=1)) + PREAMBLE_BYTES
        group = group_bytes(code, line)
        reach, space = ((octets * group.denominator) for octets in (length - 1, length + GAP_BYTES))
        return cls(group.numerator, reach, space, line.start, *fates(code, line))

    def places(self, frames: int) -> IntArray:
        """Return where in its group a frame may begin, one place for all that are alike for many frames.

        Places are alike until a frame behind begins, or ends, in another group for one of them only.
        """
        onward = self.space * np.arange(frames + 3)
        return np.unique(np.concatenate([-onward, -onward - self.reach]) % self.group)

    def first(self, places: IntArray) -> FloatArray:
        """Return the cases of a frame by its place, each as likely as are the places that are alike."""
        alike = np.diff(places, append=self.group + places[0]) / self.group
        touched = self._touched(places)
        cases = np.empty((places.size, 6))
        for groups in np.unique(touched):
            over = np.linalg.matrix_power(_over_group(self.ok, self.failed), groups)
            cases[touched == groups] = self.start @ over[_WHOLE]
        return cases * alike[:, np.newaxis]

    def begun(self, frames: int) -> tuple[IntArray, FloatArray]:
        """Return places and cases of lost frames behind one that gets through; ``frames`` as of `places`."""
        places = self.places(frames)
        through = self.first(places)
        through[:, _MENDED.start :] = 0.0
        following, begun, _ = self.next(places, through)
        if not begun.any():
            raise ValueError("no burst: with these errors the line loses no frame, or every one")
        return following, begun

    def next(self, places: IntArray, going: FloatArray) -> tuple[IntArray, FloatArray, float]:
        """Return the places of the frames behind, the cases of those that are lost, and how many are not."""
        onward = places + self.space
        ahead, following = onward // self.group - (self._touched(places) - 1), onward % self.group
        touched = self._touched(following)
        after = np.empty(going.shape)
        for far, groups in set(zip(ahead.tolist(), touched.tolist(), strict=True)):
            alike = (ahead == far) & (touched == groups)
            after[alike] = going[alike] @ self._step(far, groups)
        ended = float(after[:, _WHOLE].sum())
        after[:, _WHOLE] = 0.0
        return following, after, ended

    def _touched(self, places: IntArray) -> IntArray:
        return 1 + (places + self.reach) // self.group

    def _step(self, far: int, groups: int) -> FloatArray:
        """Return from the cases of a frame to those of the next one, which touches so many groups.

        The next frame's first group lies ``far`` behind the last one of the frame before: 0 is that group.
        """
        entered = np.zeros((6, 6))
        if far == 0:
            entered[_WHOLE, _WHOLE] = entered[_MENDED, _WHOLE] = entered[_BROKEN, _BROKEN] = np.eye(2)
        else:
            for case in (_WHOLE, _MENDED, _BROKEN):
                entered[case, _WHOLE] = np.linalg.matrix_power(self.ok + self.failed, far - 1)
        over = np.linalg.matrix_power(_over_group(self.ok, self.failed), groups - (far == 0))
        return np.asarray(entered @ over)


def _over_group(ok: FloatArray, failed: FloatArray) -> FloatArray:
    """Return from case to case of a frame over one more group that it touches."""
    none = np.zeros((2, 2))
    return np.block([[ok, none, failed], [none, ok, failed], [none, ok, failed]])
