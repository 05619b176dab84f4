"""Reno's bandwidth under random loss: the inverse-square-root law of Mathis, Semke, Mahdavi and Ott (1997).

B = C * MSS / (RTT * sqrt(p)). It holds while losses are single, found by duplicate ACKs and never by a
timeout, and while neither a queue nor a window limit binds: in practice p below about 2 %. It leaves
out timeouts (see `pftk`), start-up and the receiver's window.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray

BITS_PER_BYTE: Final = 8

UNIT: Final = 1.0
"""The constant that the reproduction study's table uses: B = MSS / (RTT * sqrt(p))."""

PERIODIC: Final = math.sqrt(3 / 2)
"""Periodic loss, an ACK per segment: 1.22. Linux counts acknowledged segments, so it applies there too."""

PERIODIC_DELAYED: Final = math.sqrt(3 / 4)
"""Periodic loss, an ACK for every second segment, a window that grows per ACK: 0.87."""

RANDOM: Final = 1.31
"""Random loss, an ACK per segment (mean window of the fluid process, published to two digits)."""

RANDOM_DELAYED: Final = 0.93
"""Random loss, an ACK for every second segment, a window that grows per ACK."""

CONSTANTS: Final = MappingProxyType(
    {
        "unit": UNIT,
        "periodic": PERIODIC,
        "periodic-delayed": PERIODIC_DELAYED,
        "random": RANDOM,
        "random-delayed": RANDOM_DELAYED,
    }
)
"""Every published constant C by the assumptions it was derived under."""

STANDARD_ERROR_OF_ONE_CYCLE: Final = 0.51
"""Relative standard error of a measured bandwidth, times the square root of its loss events.

Derived here: the window process dW/dt = 1, W -> W/2 at rate p*W has the asymptotic variance 0.341 and
the mean 1.309 (in units of 1/sqrt(p)), found by solving its Poisson equation; sqrt(0.341 / 1.309) = 0.51.
A Monte Carlo of the same process agrees (0.515).
"""


def window_segments(*, loss_ratio: ArrayLike, constant: ArrayLike = PERIODIC) -> FloatArray:
    """Average congestion window in segments, C / sqrt(p).

    Parameters
    ----------
    loss_ratio
        Probability that a segment is lost, above 0 and below 1; any shape.
    constant
        C, one of `CONSTANTS` or your own; broadcast against `loss_ratio`.

    Raises
    ------
    ValueError
        When a loss ratio lies outside 0..1 or the constant is not above 0.

    Examples
    --------
    >>> float(window_segments(loss_ratio=0.01, constant=1.0))
    10.0
    """
    p = arguments.open_ratio("loss_ratio", loss_ratio)
    return np.asarray(arguments.positive("constant", constant) / np.sqrt(p))


def bandwidth_bps(
    *, mss_bytes: ArrayLike, rtt_s: ArrayLike, loss_ratio: ArrayLike, constant: ArrayLike = UNIT
) -> FloatArray:
    """Bandwidth in bits of payload per second, C * MSS / (RTT * sqrt(p)).

    Parameters
    ----------
    mss_bytes
        Payload of a full segment in bytes.
    rtt_s
        Round-trip time in seconds: the whole round trip, not the delay of one side.
    loss_ratio
        Probability that a segment is lost, above 0 and below 1. Valid to about 0.02.
    constant
        C, one of `CONSTANTS` or your own. All four arguments broadcast.

    Raises
    ------
    ValueError
        When a size, a time or the constant is not above 0, or a loss ratio lies outside 0..1.

    Examples
    --------
    The study's trial 5, whose table says 4.92 Mb/s:

    >>> b = bandwidth_bps(mss_bytes=1460, rtt_s=6e-3, loss_ratio=0.1566283969)
    >>> f"{float(b) / 1e6:.2f}"
    '4.92'
    >>> bandwidth_bps(mss_bytes=[536, 1460], rtt_s=0.1, loss_ratio=1e-4).round()
    array([ 4288000., 11680000.])
    """
    segment_bits = arguments.positive("mss_bytes", mss_bytes) * BITS_PER_BYTE
    window = window_segments(loss_ratio=loss_ratio, constant=constant)
    return np.asarray(window * segment_bits / arguments.positive("rtt_s", rtt_s))


def loss_ratio_for_bandwidth(
    *, mss_bytes: ArrayLike, rtt_s: ArrayLike, bandwidth_bps: ArrayLike, constant: ArrayLike = UNIT
) -> FloatArray:
    """Loss ratio at which the law gives `bandwidth_bps`; above 1 means that no loss ratio does.

    Parameters
    ----------
    mss_bytes, rtt_s, bandwidth_bps, constant
        As in `bandwidth_bps`; all broadcast.

    Raises
    ------
    ValueError
        When an argument is not above 0.

    Examples
    --------
    >>> p = loss_ratio_for_bandwidth(mss_bytes=1460, rtt_s=6e-3, bandwidth_bps=4.92e6)
    >>> f"{float(p):.3f}"
    '0.157'
    """
    segment_bits = arguments.positive("mss_bytes", mss_bytes) * BITS_PER_BYTE
    window = arguments.positive("bandwidth_bps", bandwidth_bps) * arguments.positive("rtt_s", rtt_s)
    return np.asarray((arguments.positive("constant", constant) * segment_bits / window) ** 2)


def relative_standard_error(*, loss_events: ArrayLike) -> FloatArray:
    """Relative standard error of a bandwidth measured over `loss_events` window reductions.

    Parameters
    ----------
    loss_events
        Window reductions in the measured interval, any shape; 0 gives infinity. Valid from about 10.

    Raises
    ------
    ValueError
        When a count is negative or not whole.

    Examples
    --------
    >>> f"{float(relative_standard_error(loss_events=100)):.3f}"
    '0.051'
    """
    events = arguments.count("loss_events", loss_events).astype(np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(STANDARD_ERROR_OF_ONE_CYCLE / np.sqrt(events))
