"""From codewords to frames, and back to the bit error ratio for a wanted loss."""

from __future__ import annotations

from typing import Final, Unpack

import numpy as np
from scipy import optimize

from lossylink.theory import _validate
from lossylink.theory.codewords import PREAMBLE_BYTES, any_of
from lossylink.theory.phy.codes import Code
from lossylink.theory.phy.groups import group_error_ratio
from lossylink.theory.phy.line import Line, LineOptions

LEAST_BIT_ERROR_RATIO: Final = 1e-20
"""No line is told from a perfect one below it: 1.6 Tb/s are one wrong bit in two years."""


def frame_loss_ratio(
    code: Code | None,
    *,
    bit_error_ratio: float,
    frame_bytes: int,
    **options: Unpack[LineOptions],
) -> float:
    """Return the share of frames that the line loses.

    A frame of L octets with its preamble begins anywhere. So it touches 1 + (L + 7) / M groups of codewords
    on average, M being the octets of the stream in a group, and is lost with any of them.

    Parameters
    ----------
    code
        None for a line without a code: a frame is lost with any wrong bit in it.
    frame_bytes
        Octets of a frame with its check sequence; the preamble comes on top.

    Examples
    --------
    >>> f"{frame_loss_ratio(Code(272, 257), bit_error_ratio=3e-4, frame_bytes=9000):.3e}"
    '6.287e-05'
    >>> f"{frame_loss_ratio(None, bit_error_ratio=1e-9, frame_bytes=1518):.4e}"
    '1.2208e-05'
    """
    length = int(_validate.count("frame_bytes", frame_bytes, at_least=1)) + PREAMBLE_BYTES
    line = Line(bit_error_ratio, **options)
    if code is None:
        return _without_code(line, 8 * length)
    group = group_error_ratio(code, bit_error_ratio=bit_error_ratio, **options)
    return any_of(group, 1 + (length - 1) / (line.interleaved * code.message_bytes))


def bit_error_ratio_for(
    loss_ratio: float,
    code: Code | None,
    *,
    frame_bytes: int,
    **options: Unpack[LineOptions],
) -> float:
    """Return the bit error ratio with which a line loses as many frames; parameters as of `frame_loss_ratio`.

    Raises
    ------
    ValueError
        Bit errors from `LEAST_BIT_ERROR_RATIO` to 0.5 lose more, or less.

    Examples
    --------
    >>> f"{bit_error_ratio_for(1e-8, Code(544, 514), frame_bytes=1538):.3g}"
    '0.000424'
    """
    wanted = float(_validate.open_ratio("loss_ratio", loss_ratio))

    def excess(logarithm: float) -> float:
        lost = frame_loss_ratio(
            code,
            bit_error_ratio=float(np.exp(logarithm)),
            frame_bytes=frame_bytes,
            **options,
        )
        return float(np.log(max(lost, np.finfo(float).tiny)) - np.log(wanted))

    ends = np.log(LEAST_BIT_ERROR_RATIO), np.log(0.5)
    if excess(ends[0]) > 0 or excess(ends[1]) < 0:
        raise ValueError(
            f"no bit error ratio from {LEAST_BIT_ERROR_RATIO:g} to 0.5 loses {wanted:g} of frames"
        )
    return float(np.exp(optimize.brentq(excess, *ends, xtol=1e-12, rtol=1e-12)))


def _without_code(line: Line, bits: int) -> float:
    """Return how likely any of so many bits is wrong."""
    if line.independent:
        return any_of(line.bit_error_ratio, bits)
    more = bits / line.line_bits - 1
    return float(-np.expm1(np.log1p(-line.start[1]) + more * np.log1p(-line.behind_right)))
