"""From codewords that the code of an Ethernet line could not correct to frames that are lost.

An RS code of the line carries 5,140 bits, which are 640 octets of the stream of frames (256b/257b, IEEE 802.3
clauses 91 and 119). A codeword that cannot be corrected is marked, and every frame with an octet in it is
lost. From 200 Gb/s on the stream is spread over several codewords, and a frame is lost with any of them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from lossylink.statistics import arguments

CODEWORD_BYTES: Final = 640
"""Octets of the stream of frames in a codeword."""

PREAMBLE_BYTES: Final = 8
"""In front of each frame; a frame whose preamble is damaged is lost, too."""
GAP_BYTES: Final = 12
"""Between two frames at least."""

#: Codewords over which the stream is spread, by the least rate (IEEE 802.3bs, 802.3df).
_INTERLEAVED: Final = ((800e9, 4), (200e9, 2), (0.0, 1))


def interleaved(rate_bps: float) -> int:
    """Return over how many codewords a line of this rate spreads its stream.

    Examples
    --------
    >>> interleaved(100e9), interleaved(400e9), interleaved(800e9)
    (1, 2, 4)
    """
    return next(count for least, count in _INTERLEAVED if rate_bps >= least)


def frame_loss_ratio(codeword_error_ratio: float, *, frame_bytes: int, rate_bps: float) -> float:
    """Return the share of frames that lie in a codeword which could not be corrected.

    A frame begins anywhere. So it touches 1 + (L + 7) / 640 codewords on average, L being its octets with the
    check sequence; with X codewords side by side it touches X + (L + 7) / 640.

    Parameters
    ----------
    codeword_error_ratio
        Uncorrectable codewords over all.
    frame_bytes
        Octets of a frame with its check sequence.
    rate_bps
        Rate of the line.

    Examples
    --------
    >>> f"{frame_loss_ratio(1.5303e-4, frame_bytes=1518, rate_bps=100e9):.4g}"
    '0.0005176'
    """
    ratio = float(arguments.ratio("codeword_error_ratio", codeword_error_ratio))
    touched = interleaved(rate_bps) + (frame_bytes + PREAMBLE_BYTES - 1) / CODEWORD_BYTES
    return any_of(ratio, touched)


def any_of(ratio: float, count: float) -> float:
    """Return how likely any of so many independent ones fails, each as often as the ratio says.

    Examples
    --------
    >>> any_of(0.5, 2), any_of(1.0, 2), f"{any_of(1e-20, 3):.1e}"
    (0.75, 1.0, '3.0e-20')
    """
    return 1.0 if ratio == 1.0 else float(-np.expm1(count * np.log1p(-ratio)))


def frames_lost_together(*, frame_bytes: int, rate_bps: float) -> float:
    """Return how many frames in a row a codeword takes along on a busy line.

    Examples
    --------
    >>> round(frames_lost_together(frame_bytes=64, rate_bps=100e9), 1)
    8.6
    """
    return 1 + CODEWORD_BYTES * interleaved(rate_bps) / (frame_bytes + PREAMBLE_BYTES + GAP_BYTES)


def codewords_in(seconds: float, *, rate_bps: float) -> float:
    """Return how many codewords a line sends in a time, busy or not.

    Examples
    --------
    >>> f"{codewords_in(1, rate_bps=100e9):.4g}"
    '1.953e+07'
    """
    return seconds * rate_bps / (8 * CODEWORD_BYTES)
