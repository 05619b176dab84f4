"""Frames that are lost one behind the other: how long their bursts are on a busy line.

Frames of one size follow each other with the smallest gap. A group of codewords that fails takes along every
frame that touches it, and a frame may touch several groups. The place of a frame in its group, what became of
the last group that the frame touches, and the state of the line's chain behind it decide over the next frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from lossylink.theory import _validate
from lossylink.theory._validate import FloatArray
from lossylink.theory.codewords import GAP_BYTES, PREAMBLE_BYTES
from lossylink.theory.phy.codes import LineCode
from lossylink.theory.phy.frames import fates, group_bytes
from lossylink.theory.phy.line import Line, LineOptions

_WHOLE, _MENDED, _BROKEN = (slice(2 * case, 2 * case + 2) for case in range(3))
"""Cases of a frame so far, each with both states of the chain: no group that it touches failed; one failed, but
not the last one; the last one failed."""


@dataclass(frozen=True)
class LossBursts:
    """Bursts of lost frames: frames in a row that are lost, between two that get through.

    Parameters
    ----------
    shares
        Of the bursts, those of 1, 2, ... frames.
    longer
        Share of bursts longer than that.
    mean_frames
        Mean length of all of them.
    """

    shares: FloatArray
    longer: float
    mean_frames: float


def loss_bursts(
    code: LineCode,
    *,
    bit_error_ratio: float,
    frame_bytes: int,
    longest: int = 1000,
    **options: Unpack[LineOptions],
) -> LossBursts:
    """Return the lengths of loss bursts in frames, of frames of one size back to back.

    Parameters
    ----------
    frame_bytes
        Octets of a frame with its check sequence; preamble and gap come on top.
    longest
        Greatest length with a share of its own.
    bit_error_ratio, **options
        Errors and order of the line, as of `Line`.

    Raises
    ------
    ValueError
        No frame is lost, or none gets through.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> bursts = loss_bursts(CODES["rs544"], bit_error_ratio=3e-4, frame_bytes=64)
    >>> [round(float(share), 3) for share in bursts.shares[6:10]], round(bursts.mean_frames, 3)
    ([0.0, 0.536, 0.464, 0.0], 8.464)
    """
    line = Line(bit_error_ratio, **options)
    frames = _Frames.of(code, line, frame_bytes)
    lengths = int(_validate.count("longest", longest, at_least=1))
    going = frames.begun()
    begun, lost = going.sum(), frames.lost()
    if not (begun > 0 and lost > 0):
        raise ValueError(
            f"bursts need frames that are lost and frames that get through: {bit_error_ratio:g} of the bits "
            "are wrong"
        )
    shares = np.zeros(lengths)
    for length in range(lengths):
        if not going.any():
            break
        going, ended = frames.next(going)
        shares[length] = ended / begun
    return LossBursts(shares, float(going.sum() / begun), float(lost / begun))


def frames_hit_by_group(code: LineCode, *, frame_bytes: int, interleaved: int = 1) -> float:
    """Return how many frames one failed group takes along on a busy line, on average.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> [round(frames_hit_by_group(CODES["rs544"], frame_bytes=size), 2) for size in (64, 1518)]
    [8.46, 1.41]
    """
    length = int(_validate.count("frame_bytes", frame_bytes, at_least=1)) + PREAMBLE_BYTES
    reach = group_bytes(code, Line(0.0, interleaved=interleaved)) + length - 1
    return float(reach / (length + GAP_BYTES))


@dataclass(frozen=True)
class _Frames:
    """Frames at every place where one may begin, equally likely, and how one leads to the next.

    A step of ``steps`` takes the cases of a frame to those of the next one, for the places that it is for.
    """

    first: FloatArray
    following: NDArray[np.int64]
    steps: tuple[tuple[NDArray[np.int64], FloatArray], ...]

    @classmethod
    def of(cls, code: LineCode, line: Line, frame_bytes: int) -> _Frames:
        """Return the frames of a busy line."""
        length = int(_validate.count("frame_bytes", frame_bytes, at_least=1)) + PREAMBLE_BYTES
        group = group_bytes(code, line)
        ok, failed = fates(code, line)
        # A group need not be whole octets: places are as many parts of an octet apart as make it whole.
        part, places = group.denominator, np.arange(group.numerator)
        touched = 1 + (places + (length - 1) * part) // places.size
        onward = places + (length + GAP_BYTES) * part
        ahead, following = onward // places.size - (touched - 1), onward % places.size
        first = np.zeros((places.size, 6))
        for groups in np.unique(touched):
            over = np.linalg.matrix_power(_over_group(ok, failed), groups)
            first[touched == groups] = line.start @ over[_WHOLE]
        steps = tuple(_steps(ok, failed, ahead, touched[following]))
        return cls(first / places.size, following, steps)

    def lost(self) -> float:
        """Return the share of frames that are lost."""
        return float(self.first[:, 2:].sum())

    def begun(self) -> FloatArray:
        """Return the frames that are lost behind one that is not: the first ones of bursts, by place."""
        through = self.first.copy()
        through[:, 2:] = 0.0
        return self.next(through)[0]

    def next(self, going: FloatArray) -> tuple[FloatArray, float]:
        """Return which of some frames the next one is lost behind, by its place, and how many end here."""
        after = np.zeros(going.shape)
        for places, step in self.steps:
            after[self.following[places]] = going[places] @ step
        ended = float(after[:, _WHOLE].sum())
        after[:, _WHOLE] = 0.0
        return after, ended


def _steps(
    ok: FloatArray, failed: FloatArray, ahead: NDArray[np.int64], touched: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
    """Yield places and the step onto the frame behind.

    That frame touches ``touched`` groups. Its first group is ``ahead`` of the last group of the frame before.
    """
    for far, groups in sorted(set(zip(ahead.tolist(), touched.tolist(), strict=True))):
        entered = np.zeros((6, 6))
        if far == 0:
            entered[_WHOLE, _WHOLE] = entered[_MENDED, _WHOLE] = entered[_BROKEN, _BROKEN] = np.eye(2)
        else:
            for case in (_WHOLE, _MENDED, _BROKEN):
                entered[case, _WHOLE] = np.linalg.matrix_power(ok + failed, far - 1)
        over = np.linalg.matrix_power(_over_group(ok, failed), groups - (far == 0))
        yield np.flatnonzero((ahead == far) & (touched == groups)), entered @ over


def _over_group(ok: FloatArray, failed: FloatArray) -> FloatArray:
    """Return from case to case of a frame over one more group that it touches."""
    none = np.zeros((2, 2))
    return np.block([[ok, none, failed], [none, ok, failed], [none, ok, failed]])
