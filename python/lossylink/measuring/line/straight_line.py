"""The frame loss ratios that SONiC's switches show: ``FEC_FLR``, which was seen, and ``FEC_FLR_PREDICTED``.

SONiC (design ``doc/port_fec_flr``, releases since 202505) draws a straight line through the logarithms of the
histogram's bins 1 to 15 by unweighted least squares, leaves out bins of fewer than 10 codewords, and adds up
what the line has at 16 to 20 wrong symbols. The logarithms of the bins of independent errors bend downwards,
so that the line passes above what comes: see `lossylink.measuring.line.estimate` for a fit of the process.

The script that computes these figures on switches, ``port_flr.lua`` of sonic-swss, differs from the design in
two places, as far as public copies of it show: a bin of exactly 10 is left out as well, and the sum goes on
to 21. Where the last bin holds about ten codewords, the first moves the median prediction by up to a sixth.
The second adds less than 1 %. The design is followed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lossylink.statistics import arguments

FRAMES_A_CODEWORD: Final = 8
"""Frames of 64 octets with their smallest gaps that fill a codeword of 640 octets (802.3's convention)."""

FEWEST_CODEWORDS: Final = 10
"""Codewords that a bin needs to count for the line."""

_LAST_BIN: Final = 15
_BEYOND: Final = range(16, 21)
#: A line needs two points.
_FEWEST_BINS: Final = 2


@dataclass(frozen=True)
class Prediction:
    """A straight line through the logarithms of a histogram, and what it says of lost frames."""

    codeword_error_ratio: float
    """The sum of the line at 16 to 20 wrong symbols."""
    frame_loss_ratio: float
    """``FEC_FLR_PREDICTED``."""
    r_squared: float
    """How well the line passes through the bins."""


def frames_lost_by(codeword_error_ratio: float, *, interleaved: int) -> float:
    """Return the frame loss ratio of a codeword error ratio, by the convention that SONiC takes from 802.3.

    Examples
    --------
    >>> [frames_lost_by(1.0, interleaved=count) for count in (1, 2, 4)]
    [1.125, 2.125, 4.125]
    """
    return codeword_error_ratio * (1 + interleaved * FRAMES_A_CODEWORD) / FRAMES_A_CODEWORD


def observed(*, uncorrectable: int, codewords: int, interleaved: int) -> float:
    """Return ``FEC_FLR``: the uncorrectable codewords over all codewords, in lost frames.

    Examples
    --------
    >>> observed(uncorrectable=2, codewords=1_000_000, interleaved=1)
    2.25e-06
    """
    return frames_lost_by(uncorrectable / codewords, interleaved=interleaved) if codewords else 0.0


def predicted(codewords: Sequence[float], *, interleaved: int) -> Prediction | None:
    """Return ``FEC_FLR_PREDICTED`` of a histogram; nothing where fewer than two bins count for the line.

    Parameters
    ----------
    codewords
        Codewords by their wrong symbols, from 0 on. What lies beyond 15 is not looked at.
    interleaved
        Codewords that the stream is spread over.

    Raises
    ------
    ValueError
        A bin is negative.

    Examples
    --------
    >>> found = predicted([10**12, 10**9, 10**7, 10**5, 10**3], interleaved=1)
    >>> f"{found.frame_loss_ratio:.4g}, R^2 {found.r_squared:.3f}"
    '1.135e-33, R^2 1.000'
    """
    counts = arguments.not_negative("codewords", codewords)[: _LAST_BIN + 1]
    places = np.flatnonzero(counts[1:] >= FEWEST_CODEWORDS) + 1
    if places.size < _FEWEST_BINS:
        return None
    logarithms = np.log10(counts[places] / counts.sum())
    slope, intercept = np.polyfit(places, logarithms, 1)
    ratio = float(sum(10 ** (slope * place + intercept) for place in _BEYOND))
    spread = float(np.corrcoef(places, logarithms)[0, 1] ** 2)
    return Prediction(ratio, frames_lost_by(ratio, interleaved=interleaved), spread)
