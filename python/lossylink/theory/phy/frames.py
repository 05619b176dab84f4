"""Lost frames: which share, by length, and the bit error ratio for a wanted one.

A frame of L octets comes with a preamble of 8, and is lost when a group that has one of these L + 8 octets
fails. Octets of the stream fill groups of M each, and a frame begins at any of them: it touches k groups, or
one more, so that the mean is 1 + (L + 7) / M.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final, Unpack

import numpy as np
from scipy import optimize

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray
from lossylink.theory.codewords import PREAMBLE_BYTES, any_of
from lossylink.theory.phy.codes import Code, Firecode, LineCode
from lossylink.theory.phy.groups import codeword_error_ratio, transitions
from lossylink.theory.phy.line import Line, LineOptions
from lossylink.theory.phy.words import symbol_error_distribution

LEAST_BIT_ERROR_RATIO: Final = 1e-20
"""No line is told from a perfect one below it: 1.6 Tb/s are one wrong bit in two years."""
_SMALLEST_FRAME_SPACE_BYTES: Final = 80
"""Of a frame of 64 octets with what is around it, as IEEE 802.3 counts frames in a codeword."""
_WIDER: Final = 0.01
"""Room that a bracket gets for what its ends are by an approximation."""


def frame_loss_ratio(
    code: LineCode, *, bit_error_ratio: float, frame_bytes: int, **options: Unpack[LineOptions]
) -> float:
    """Return the share of frames that the line loses, of frames that touch the mean number of groups.

    With independent groups the share is 1 - (1 - g)^(1 + (L + 7) / M), g being the share of groups that fail.
    In general it is 1 less the geometric mean of a frame's chance to get through, over the places where a
    frame may begin. `mean_frame_loss_ratio` takes the arithmetic mean. It is less by a part of at most about
    g / 8, which the fourth digit shows from g = 1e-3 on.

    Parameters
    ----------
    frame_bytes
        Octets of a frame with its check sequence; the preamble comes on top.
    bit_error_ratio, **options
        Errors and order of the line, as of `Line`.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES, UNCODED
    >>> f"{frame_loss_ratio(CODES['rs272'], bit_error_ratio=3e-4, frame_bytes=9000):.3e}"
    '6.287e-05'
    >>> f"{frame_loss_ratio(UNCODED, bit_error_ratio=1e-9, frame_bytes=1518):.4e}"
    '1.2208e-05'
    """
    line = Line(bit_error_ratio, **options)
    share, fewer, more = _lost_by_place(code, line, frame_bytes)
    if max(fewer, more) == 1.0:
        return 1.0
    return float(-np.expm1((1 - share) * np.log1p(-fewer) + share * np.log1p(-more)))


def mean_frame_loss_ratio(
    code: LineCode, *, bit_error_ratio: float, frame_bytes: int, **options: Unpack[LineOptions]
) -> float:
    """Return the share of frames that the line loses, of frames that begin anywhere: the exact mean.

    Parameters are those of `frame_loss_ratio`.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> bad = {"bit_error_ratio": 5e-4, "frame_bytes": 64}
    >>> f"{mean_frame_loss_ratio(CODES['rs528'], **bad):.4e} {frame_loss_ratio(CODES['rs528'], **bad):.4e}"
    '6.2320e-03 6.2336e-03'
    """
    share, fewer, more = _lost_by_place(code, Line(bit_error_ratio, **options), frame_bytes)
    return (1 - share) * fewer + share * more


def bit_error_ratio_for(
    loss_ratio: float, code: LineCode, *, frame_bytes: int, **options: Unpack[LineOptions]
) -> float:
    """Return the bit error ratio with which a line loses the wanted share of frames.

    Parameters
    ----------
    loss_ratio
        Wanted `frame_loss_ratio`, above 0 and below 1.
    frame_bytes
        Octets of a frame with its check sequence.
    **options
        Order and bursts of the line, as of `Line`.

    Raises
    ------
    ValueError
        Bit errors from `LEAST_BIT_ERROR_RATIO` to the most that the line can have lose more, or less.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> f"{bit_error_ratio_for(1e-8, CODES['rs544'], frame_bytes=1538):.3g}"
    '0.000424'
    """
    wanted = float(arguments.open_ratio("loss_ratio", loss_ratio))
    line = Line(0.0, **options)
    ends = LEAST_BIT_ERROR_RATIO, line.most_bit_errors

    def lost(bits: float) -> float:
        return frame_loss_ratio(code, bit_error_ratio=bits, frame_bytes=frame_bytes, **options)

    found = None
    if line.interleaved > 1 and not line.independent:
        near = _by_codewords(wanted, code, frame_bytes, options, ends)
        found = _root(lost, wanted, near) if near else None
    found = found or _root(lost, wanted, ends)
    if found is None:
        raise ValueError(f"no bit error ratio from {ends[0]:g} to {ends[1]:.4g} loses {wanted:g} of frames")
    return found


def standard_frame_loss_ratio(code: Code, *, codeword_error_ratio: float, interleaved: int = 1) -> float:
    """Return the share of lost frames by the convention of IEEE 802.3: of smallest frames on a busy line.

    With F such frames in a codeword, 8 in 640 octets, it is C (1 + X F) / F: 1.125, 2.125 and 4.125 times the
    share C of lost codewords for X = 1, 2 and 4. `frame_loss_ratio` has 1.111 C for X = 1. Of the 80 octets
    that such a frame takes up, 72 can be hit, and they touch 1 + 71 / 640 codewords on average.

    Parameters
    ----------
    codeword_error_ratio
        Uncorrectable codewords over all.
    interleaved
        Codewords that take code symbols in turn.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> f"{standard_frame_loss_ratio(CODES['rs544'], codeword_error_ratio=8.1516e-13):.3g}"
    '9.17e-13'
    """
    ratio = float(arguments.ratio("codeword_error_ratio", codeword_error_ratio))
    frames = float(code.message_bytes / _SMALLEST_FRAME_SPACE_BYTES)
    return min(1.0, ratio * (1 + interleaved * frames) / frames)


def group_bytes(code: LineCode, line: Line) -> Fraction:
    """Return the octets of the stream in a group of codewords."""
    return line.interleaved * code.message_bytes


@lru_cache(maxsize=64)
def fates(code: LineCode, line: Line) -> tuple[FloatArray, FloatArray]:
    """Return from state to state of the chain over a group that comes right, and over one that fails.

    Where errors are independent, so are groups, and no state tells anything: the matrices are then quick.
    """
    if not line.independent or isinstance(code, Firecode):
        return transitions(code, line)
    line.check(code)
    shares = symbol_error_distribution(code, bit_error_ratio=line.bit_error_ratio)
    anew = np.array([line.start, line.start])
    return shares[:-1].sum() ** line.interleaved * anew, any_of(float(shares[-1]), line.interleaved) * anew


def _lost_with(groups: int, code: LineCode, line: Line) -> float:
    """Return how likely any of so many groups in a row fails: a sum without a negative term."""
    ok, failed = fates(code, line)
    step = np.block([[ok, failed], [np.zeros((2, 2)), ok + failed]])
    whole = np.linalg.matrix_power(step, groups)
    return min(1.0, float((line.start @ whole[:2, 2:]).sum()))


def _lost_by_place(code: LineCode, line: Line, frame_bytes: int) -> tuple[float, float, float]:
    """Return which share of places make a frame touch one group more, and how likely each kind is lost."""
    length = int(arguments.count("frame_bytes", frame_bytes, at_least=1)) + PREAMBLE_BYTES
    behind, share = divmod((length - 1) / group_bytes(code, line), 1)
    fewer = _lost_with(1 + int(behind), code, line)
    return float(share), fewer, _lost_with(2 + int(behind), code, line) if share else fewer


def _by_codewords(
    wanted: float, code: LineCode, frame_bytes: int, options: LineOptions, ends: tuple[float, float]
) -> tuple[float, float] | None:
    """Return bit error ratios around the one wanted, by single codewords, which are quick to compute.

    A group fails at least as often as one codeword, and at most as often as its codewords together.
    """
    line = Line(0.0, **options)
    groups = 1 + (frame_bytes + PREAMBLE_BYTES - 1) / float(group_bytes(code, line))

    def around(codewords: int) -> float | None:
        def lost(bits: float) -> float:
            single = codeword_error_ratio(code, bit_error_ratio=bits, **options)
            return any_of(min(1.0, codewords * single), groups)

        return _root(lost, wanted, ends)

    low, high = around(line.interleaved), around(1)
    if low is None or high is None:
        return None
    return max(ends[0], low * (1 - _WIDER)), min(ends[1], high * (1 + _WIDER))


def _root(lost: Callable[[float], float], wanted: float, ends: tuple[float, float]) -> float | None:
    """Return the bit error ratio between the ends with the wanted loss, or None if there is none."""

    def excess(logarithm: float) -> float:
        bits = min(float(np.exp(logarithm)), ends[1])
        return float(np.log(max(lost(bits), np.finfo(float).tiny)) - np.log(wanted))

    low, high = np.log(ends)
    if excess(low) > 0 or excess(high) < 0:
        return None
    return min(float(np.exp(optimize.brentq(excess, low, high, xtol=1e-12, rtol=1e-12))), ends[1])
