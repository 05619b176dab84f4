"""CUBIC's average window under random loss: RFC 9438, sections 4.3 and 5.1.

CUBIC sends by its cubic curve or by a Reno-friendly estimate, whichever is larger; so does the closed
form. Both assume one loss every 1/p segments and no timeout, queue or window limit. HyStart, fast
convergence and the change of regime within a cycle are left out: expect agreement to a third.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray

BITS_PER_BYTE: Final = 8

AGGRESSIVENESS: Final = 0.4
"""C in segments per second cubed (RFC 9438, section 4.1)."""

DECREASE_FACTOR: Final = 0.7
"""beta_cubic: the part of the window kept after a loss (RFC 9438, section 4.6)."""


def cubic_window_segments(*, rtt_s: ArrayLike, loss_ratio: ArrayLike) -> FloatArray:
    """Average window of the cubic curve alone, (C(3+b)/(4(1-b)))^(1/4) * RTT^(3/4) / p^(3/4) segments.

    Parameters
    ----------
    rtt_s
        Round-trip time in seconds.
    loss_ratio
        Probability that a segment is lost, above 0 and below 1; both broadcast.

    Raises
    ------
    ValueError
        When a time is not above 0 or a loss ratio lies outside 0..1.

    Examples
    --------
    RFC 9438's own figure is 1.054 * RTT^0.75 / p^0.75:

    >>> f"{float(cubic_window_segments(rtt_s=1.0, loss_ratio=1e-4)):.0f}"
    '1054'
    """
    p = arguments.open_ratio("loss_ratio", loss_ratio)
    rtt = arguments.positive("rtt_s", rtt_s)
    beta = DECREASE_FACTOR
    scale = (AGGRESSIVENESS * (3 + beta) / (4 * (1 - beta))) ** 0.25
    return np.asarray(scale * (rtt / p) ** 0.75)


def reno_friendly_window_segments(*, loss_ratio: ArrayLike) -> FloatArray:
    """Average window of the Reno-friendly estimate, which RFC 9438 makes equal to Reno's, sqrt(1.5 / p).

    Parameters
    ----------
    loss_ratio
        Probability that a segment is lost, above 0 and below 1; any shape.

    Raises
    ------
    ValueError
        When a loss ratio lies outside 0..1.

    Examples
    --------
    >>> f"{float(reno_friendly_window_segments(loss_ratio=0.01)):.2f}"
    '12.25'
    """
    p = arguments.open_ratio("loss_ratio", loss_ratio)
    beta = DECREASE_FACTOR
    increase = 3 * (1 - beta) / (1 + beta)
    return np.asarray(np.sqrt(increase * (1 + beta) / (2 * (1 - beta) * p)))


def window_segments(*, rtt_s: ArrayLike, loss_ratio: ArrayLike) -> FloatArray:
    """Average window in segments: the larger of the cubic and the Reno-friendly one.

    Parameters
    ----------
    rtt_s, loss_ratio
        As in `cubic_window_segments`; both broadcast.

    Raises
    ------
    ValueError
        When a time is not above 0 or a loss ratio lies outside 0..1.

    Examples
    --------
    >>> window_segments(rtt_s=[0.001, 0.2], loss_ratio=1e-3).round(1)
    array([38.7, 56. ])
    """
    cubic = cubic_window_segments(rtt_s=rtt_s, loss_ratio=loss_ratio)
    return np.asarray(np.maximum(cubic, reno_friendly_window_segments(loss_ratio=loss_ratio)))


def bandwidth_bps(*, mss_bytes: ArrayLike, rtt_s: ArrayLike, loss_ratio: ArrayLike) -> FloatArray:
    """Bits of payload a second: the average window over the round-trip time.

    Parameters
    ----------
    mss_bytes
        Payload of a full segment in bytes; the rest as in `window_segments`. All broadcast.

    Raises
    ------
    ValueError
        When a size or a time is not above 0, or a loss ratio lies outside 0..1.

    Examples
    --------
    >>> f"{float(bandwidth_bps(mss_bytes=1460, rtt_s=6e-3, loss_ratio=1e-3)) / 1e6:.1f}"
    '75.4'
    """
    window = window_segments(rtt_s=rtt_s, loss_ratio=loss_ratio)
    bits = arguments.positive("mss_bytes", mss_bytes) * BITS_PER_BYTE
    return np.asarray(window * bits / arguments.positive("rtt_s", rtt_s))
