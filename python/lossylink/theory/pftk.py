"""Reno's bandwidth with retransmission timeouts: Padhye, Firoiu, Towsley and Kurose (1998), short form.

B = 1 / (RTT*sqrt(2bp/3) + T0*min(1, 3*sqrt(3bp/8))*p*(1 + 32p^2)) segments a second. It describes a TCP
of 1998: losses in one round are correlated, three duplicate ACKs are needed, and whatever they do not
find costs a timeout. What a modern stack adds and this formula lacks stands in `LACKS`; with them a flow
at p >= 5 % and a small RTT is several times faster than predicted, so the curve is shown beside a
measurement and never used as the truth.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray

BITS_PER_BYTE: Final = 8

LINUX_RTO_MIN_S: Final = 0.2
"""Linux never lets the retransmission timeout fall below the smoothed RTT plus this (TCP_RTO_MIN, 200 ms)."""

LACKS: Final = (
    ("SACK and its pipe", "RFC 2018, 6675", "mends several losses of a window in one round trip"),
    ("RACK", "RFC 8985", "finds a loss by time where the window is too small for three duplicate ACKs"),
    ("tail loss probe", "RFC 8985", "probes a lost tail after two round trips instead of a timeout"),
    ("proportional rate reduction", "RFC 9937", "goes on sending during recovery"),
    ("limited transmit", "RFC 3042", "sends new data on the first duplicate ACKs and so provokes a third"),
    ("undo", "RFC 3708, 4015", "gives back the window that a spurious reduction took"),
)
"""Mechanisms of a modern stack that the model lacks: name, source, effect."""


def rto_s(*, rtt_s: ArrayLike, rto_min_s: ArrayLike = LINUX_RTO_MIN_S) -> FloatArray:
    """First retransmission timeout of a Linux sender on a steady path: smoothed RTT plus the minimum.

    Parameters
    ----------
    rtt_s
        Round-trip time in seconds.
    rto_min_s
        Minimum that Linux adds for the variance term, in seconds; both broadcast. Leaves out the
        rounding up to a timer tick.

    Raises
    ------
    ValueError
        When a time is not above 0.

    Examples
    --------
    >>> float(rto_s(rtt_s=0.05))
    0.25
    """
    return np.asarray(arguments.positive("rtt_s", rtt_s) + arguments.positive("rto_min_s", rto_min_s))


def segments_per_second(
    *,
    rtt_s: ArrayLike,
    loss_ratio: ArrayLike,
    rto_s: ArrayLike,
    segments_per_ack: ArrayLike = 1,
    window_limit_segments: ArrayLike | None = None,
) -> FloatArray:
    """Segments a second that a flow with timeouts sends.

    Parameters
    ----------
    rtt_s, rto_s
        Round-trip time and first retransmission timeout T0, in seconds.
    loss_ratio
        Probability that a loss event starts at a segment, above 0 and below 1.
    segments_per_ack
        b: 1 where the window grows per acknowledged segment (Linux), 2 where it grows per delayed ACK.
    window_limit_segments
        Receiver's window in segments, or None for no limit. All arguments broadcast.

    Raises
    ------
    ValueError
        When a time, b or the window is not above 0, or a loss ratio lies outside 0..1.

    Examples
    --------
    >>> rate = segments_per_second(rtt_s=0.1, loss_ratio=0.01, rto_s=0.3)
    >>> f"{float(rate):.1f}"
    '114.7'
    >>> float(segments_per_second(rtt_s=0.1, loss_ratio=1e-6, rto_s=0.3, window_limit_segments=10))
    100.0
    """
    p = arguments.open_ratio("loss_ratio", loss_ratio)
    rtt = arguments.positive("rtt_s", rtt_s)
    b = arguments.positive("segments_per_ack", segments_per_ack)
    probability_of_timeout = np.minimum(1.0, 3 * np.sqrt(3 * b * p / 8))
    backoff = p * (1 + 32 * p**2)
    fast = rtt * np.sqrt(2 * b * p / 3)
    slow = arguments.positive("rto_s", rto_s) * probability_of_timeout * backoff
    rate = np.asarray(1 / (fast + slow))
    if window_limit_segments is None:
        return rate
    limit = arguments.positive("window_limit_segments", window_limit_segments)
    return np.asarray(np.minimum(rate, limit / rtt))


def bandwidth_bps(
    *,
    mss_bytes: ArrayLike,
    rtt_s: ArrayLike,
    loss_ratio: ArrayLike,
    rto_s: ArrayLike,
    segments_per_ack: ArrayLike = 1,
    window_limit_segments: ArrayLike | None = None,
) -> FloatArray:
    """Bits of payload a second that a flow with timeouts sends, lost ones included.

    Parameters
    ----------
    mss_bytes
        Payload of a full segment in bytes; the rest as in `segments_per_second`. All broadcast.

    Raises
    ------
    ValueError
        As `segments_per_second`, and when a size is not above 0.

    Examples
    --------
    >>> b = bandwidth_bps(mss_bytes=1460, rtt_s=6e-3, loss_ratio=0.1566, rto_s=0.206)
    >>> f"{float(b) / 1e6:.2f}"
    '0.27'
    """
    rate = segments_per_second(
        rtt_s=rtt_s,
        loss_ratio=loss_ratio,
        rto_s=rto_s,
        segments_per_ack=segments_per_ack,
        window_limit_segments=window_limit_segments,
    )
    return np.asarray(rate * arguments.positive("mss_bytes", mss_bytes) * BITS_PER_BYTE)
