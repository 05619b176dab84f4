"""DCTCP's alpha and window: under random marking (derived here) and under a threshold (Alizadeh et al. 2010).

alpha <- (1 - g)*alpha + g*F once a window, F being the marked part of that window (RFC 8257). The window
is cut by alpha/2 at most once a round trip and otherwise grows by a segment a round trip. Start-up
(alpha starts at 1), loss and more than one bottleneck are left out. Alpha is a real number here. In Linux
and in the simulator it has ten bits, to which marked parts below 1/64 add nothing (rule DCTCP-5): below that
these forms do not hold.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray

GAIN: Final = 1 / 16
"""g, the weight of the newest window in alpha (RFC 8257, section 4.2)."""


def alpha_mean(*, marking_ratio: ArrayLike) -> FloatArray:
    """Long-run mean of alpha when each packet is marked independently: the marking probability itself.

    The fixed point of alpha = (1 - g)*alpha + g*E[F] is E[F], whatever g and the window are.

    Parameters
    ----------
    marking_ratio
        Probability that a packet is marked, from 0 to 1; any shape.

    Raises
    ------
    ValueError
        When a ratio lies outside 0..1.

    Examples
    --------
    >>> float(alpha_mean(marking_ratio=0.01))
    0.01
    """
    return arguments.ratio("marking_ratio", marking_ratio)


def alpha_standard_deviation(
    *, marking_ratio: ArrayLike, window_segments: ArrayLike, gain: ArrayLike = GAIN
) -> FloatArray:
    """Return the standard deviation of alpha around its mean, sqrt(g/(2-g) * q(1-q)/W).

    Parameters
    ----------
    marking_ratio
        q, the probability that a packet is marked, from 0 to 1.
    window_segments
        W, the window over which F is counted, taken as constant.
    gain
        g, above 0 and below 1; all three broadcast.

    Raises
    ------
    ValueError
        When a ratio lies outside its range or a window is not above 0.

    Examples
    --------
    >>> f"{float(alpha_standard_deviation(marking_ratio=0.01, window_segments=200)):.5f}"
    '0.00126'
    """
    q = arguments.ratio("marking_ratio", marking_ratio)
    w = arguments.positive("window_segments", window_segments)
    g = arguments.open_ratio("gain", gain)
    return np.asarray(np.sqrt(g / (2 - g) * q * (1 - q) / w))


def window_under_random_marking_segments(
    *, marking_ratio: ArrayLike, grows_while_reducing: bool = False
) -> FloatArray:
    """Average window at which growth and cuts balance when each packet is marked with probability q.

    A sender that does not grow during the round trip after a cut (Linux: state CWR) waits 1/q
    packets for the next mark, in which it grows by 1/(q*W), and is cut by W*q/2: W = sqrt(2)/q.
    A sender that grows in every round trip and is cut in those with a mark balances
    1 = W*(q/2)*(1 - exp(-q*W)), that is W = c/q with c = 2.24.

    Parameters
    ----------
    marking_ratio
        q, above 0 and below 1; valid for small q (a window of many segments). Any shape.
    grows_while_reducing
        Which of the two senders.

    Raises
    ------
    ValueError
        When a ratio lies outside 0..1.

    Examples
    --------
    >>> f"{float(window_under_random_marking_segments(marking_ratio=0.01)):.1f}"
    '141.4'
    >>> f"{float(window_under_random_marking_segments(marking_ratio=0.01, grows_while_reducing=True)):.1f}"
    '223.9'
    """
    q = arguments.open_ratio("marking_ratio", marking_ratio)
    return np.asarray((_balance_of_growing_sender() if grows_while_reducing else np.sqrt(2.0)) / q)


def _balance_of_growing_sender() -> float:
    """Solve c * (1 - exp(-c)) = 2 by Newton's method from a start above the root."""
    c = 3.0
    for _ in range(8):
        excess = c * (1 - np.exp(-c)) - 2
        slope = 1 - np.exp(-c) + c * np.exp(-c)
        c -= excess / slope
    return float(c)


def alpha_at_threshold(*, window_segments: ArrayLike) -> FloatArray:
    """Alpha of synchronised flows at a marking threshold, alpha^2 * (1 - alpha/4) = (2W + 1)/(W + 1)^2.

    Parameters
    ----------
    window_segments
        W, the window at which the queue reaches the threshold, (C*RTT + K)/n segments; above 1.
        The familiar sqrt(2/W) is its limit for large W. Any shape.

    Raises
    ------
    ValueError
        When a window is not above 1: its alpha would exceed 1.

    Examples
    --------
    >>> f"{float(alpha_at_threshold(window_segments=200)):.4f}, sqrt(2/W) = {(2 / 200) ** 0.5:.4f}"
    '0.1009, sqrt(2/W) = 0.1000'
    """
    w = arguments.positive("window_segments", window_segments)
    if (w <= 1).any():
        raise ValueError(f"window_segments must be above 1, not {float(w.min()):g}")
    marked = (2 * w + 1) / (w + 1) ** 2
    alpha = np.sqrt(marked)
    for _ in range(20):
        alpha = np.minimum(1.0, np.sqrt(marked / (1 - alpha / 4)))
    return np.asarray(alpha)
