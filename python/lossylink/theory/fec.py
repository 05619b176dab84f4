"""Closed forms of a systematic (k, h) block code: residual loss, failures, capacity share, delay bounds.

Any k of the k+h packets of a block rebuild its data (maximum distance separable), losses are
independent with probability p. Bursty loss is far worse at the same mean: simulate it. The sizes are
those of Wharf's header (6 octets on data; parity is the longest frame of the block plus 22).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray

BITS_PER_BYTE: Final = 8

HEADER_BYTES: Final = 6
"""Octets that the code's header adds to a data frame."""

PARITY_GROWTH_BYTES: Final = 22
"""Octets by which a parity frame exceeds the block's longest frame: 14 Ethernet, 6 header, 2 coded length."""

FRAME_WIRE_BYTES: Final = 1538
"""Octets that a full frame takes on the wire: 1518 with FCS, 8 of preamble, 12 of inter-frame gap."""

NEGLIGIBLE: Final = 1e-18
"""Terms below this part of their sum are left out."""

PARITY_PACKETS_AT_MOST: Final = 255
"""Largest block that an 8-bit symbol can address."""


def residual_loss_ratio(
    *, data_packets: ArrayLike, parity_packets: ArrayLike, loss_ratio: ArrayLike
) -> FloatArray:
    """Probability that a data packet is lost and stays lost: p * P[Bin(k+h-1, p) >= h].

    Parameters
    ----------
    data_packets, parity_packets
        k (at least 1) and h (at least 0; 0 leaves p as it is).
    loss_ratio
        p, from 0 to 1; all three broadcast.

    Raises
    ------
    ValueError
        When a count is too small or not whole, or a ratio lies outside 0..1.

    Examples
    --------
    >>> r = residual_loss_ratio(data_packets=[5, 5, 25], parity_packets=[1, 5, 5], loss_ratio=0.1)
    >>> [f"{value:.2e}" for value in r]
    ['4.10e-02', '8.91e-05', '1.58e-02']
    """
    p = arguments.ratio("loss_ratio", loss_ratio)
    return np.asarray(p * _at_least(_data(data_packets), parity_packets, p))


def block_failure_ratio(
    *, data_packets: ArrayLike, parity_packets: ArrayLike, loss_ratio: ArrayLike
) -> FloatArray:
    """Probability that a block loses more packets than it has parity: P[Bin(k+h, p) > h].

    Parameters
    ----------
    data_packets, parity_packets, loss_ratio
        As in `residual_loss_ratio`.

    Raises
    ------
    ValueError
        As `residual_loss_ratio`.

    Examples
    --------
    >>> f"{float(block_failure_ratio(data_packets=1, parity_packets=1, loss_ratio=0.1)):.3f}"
    '0.010'
    """
    p = arguments.ratio("loss_ratio", loss_ratio)
    more_than_parity = arguments.count("parity_packets", parity_packets) + 1
    return np.asarray(_at_least(_data(data_packets), more_than_parity, p))


def _data(data_packets: ArrayLike) -> NDArray[np.int64]:
    return arguments.count("data_packets", data_packets, at_least=1)


def _at_least(data_packets: NDArray[np.int64], losses: ArrayLike, p: FloatArray) -> FloatArray:
    """P[Bin(k + losses - 1, p) >= losses], exact to the smallest tail.

    The terms of the tail that holds the smaller half are summed, all of them positive. An incomplete beta
    function would do as well, but scipy takes longer to load than a plan takes to make.
    """
    at_least = arguments.count("parity_packets", losses)
    k, h, p = np.broadcast_arrays(data_packets, at_least, p)
    n = k + h - 1
    upper = h > n * p
    tail = np.where(upper, _binomial_sum(n, h, p), 1.0)
    # The other tail, from h - 1 down, is that of successes instead of losses.
    rest = _binomial_sum(n, np.maximum(n - h + 1, 0), 1.0 - p)
    return np.asarray(np.where(h == 0, 1.0, np.where(upper, tail, 1.0 - rest)))


def _binomial_sum(n: NDArray[np.int64], first: NDArray[np.int64], p: FloatArray) -> FloatArray:
    """Sum of the binomial terms from ``first`` to n, where they fall from the first on; else anything."""
    first = np.minimum(first, n)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, max(2, int(n.max()) + 1))))])
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = log_factorial[n] - log_factorial[first] - log_factorial[n - first]
        logarithm = logarithm + np.where(first > 0, first * np.log(p), 0.0)
        logarithm = logarithm + np.where(n > first, (n - first) * np.log1p(-p), 0.0)
        odds = np.where(p < 1.0, p / (1.0 - p), 0.0)
    term = np.exp(logarithm)
    total: FloatArray = term.copy()
    for step in range(int((n - first).max())):
        place = first + step
        term = term * np.maximum(n - place, 0) / (place + 1) * odds
        total = total + term
        if np.all(term <= total * NEGLIGIBLE):
            break
    return total


def decoded_block_ratio(*, data_packets: ArrayLike, loss_ratio: ArrayLike) -> FloatArray:
    """Share of blocks that lose data and so invoke the decoder: 1 - (1-p)^k.

    Parameters
    ----------
    data_packets, loss_ratio
        As in `residual_loss_ratio`.

    Raises
    ------
    ValueError
        As `residual_loss_ratio`.

    Examples
    --------
    >>> f"{float(decoded_block_ratio(data_packets=25, loss_ratio=0.01)):.2f}"
    '0.22'
    """
    p = arguments.ratio("loss_ratio", loss_ratio)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(_data(data_packets) * np.log1p(-p)))


def smallest_parity_packets(*, data_packets: int, loss_ratio: float, target_loss_ratio: float) -> int:
    """Fewest parity packets h with which a block of k meets a target residual loss.

    Parameters
    ----------
    data_packets
        k, at least 1.
    loss_ratio, target_loss_ratio
        p and the residual loss to reach, above 0 and below 1.

    Raises
    ------
    ValueError
        When an argument is out of range, or when no block of at most 255 packets meets the target.

    Examples
    --------
    >>> smallest_parity_packets(data_packets=25, loss_ratio=1e-2, target_loss_ratio=1e-5)
    4
    """
    target = float(arguments.open_ratio("target_loss_ratio", target_loss_ratio))
    arguments.open_ratio("loss_ratio", loss_ratio)
    parity = np.arange(max(1, PARITY_PACKETS_AT_MOST - data_packets + 1))
    residual = residual_loss_ratio(data_packets=data_packets, parity_packets=parity, loss_ratio=loss_ratio)
    meeting = np.flatnonzero(residual <= target)
    if meeting.size == 0:
        raise ValueError(
            f"no block of {data_packets} data packets and at most {parity[-1]} parity packets "
            f"reaches {target:g} at a loss ratio of {loss_ratio:g}"
        )
    return int(meeting[0])


def capacity_share(
    *,
    data_packets: ArrayLike,
    parity_packets: ArrayLike,
    frame_wire_bytes: ArrayLike = FRAME_WIRE_BYTES,
    parity_growth_bytes: ArrayLike = PARITY_GROWTH_BYTES,
) -> FloatArray:
    """Share of the line rate left for the original frames, headers and longer parity included.

    Parameters
    ----------
    data_packets, parity_packets
        k and h. Without headers the share is k / (k + h).
    frame_wire_bytes
        Octets of an original frame on the wire, preamble and gap included.
    parity_growth_bytes
        Octets by which a parity frame exceeds the longest frame. All broadcast.

    Raises
    ------
    ValueError
        When a count is too small or not whole, or a size is not above 0.

    Examples
    --------
    >>> capacity_share(data_packets=[5, 5, 25], parity_packets=[1, 5, 5]).round(3)
    array([0.829, 0.495, 0.829])
    """
    k = _data(data_packets)
    h = arguments.count("parity_packets", parity_packets)
    frame = arguments.positive("frame_wire_bytes", frame_wire_bytes)
    growth = arguments.not_negative("parity_growth_bytes", parity_growth_bytes)
    coded = k * (frame + HEADER_BYTES) + h * (frame + growth)
    return np.asarray(np.where(h == 0, 1.0, k * frame / coded))


def recovery_delay_max_s(
    *,
    data_packets: ArrayLike,
    parity_packets: ArrayLike,
    rate_bps: ArrayLike,
    gap_s: ArrayLike | None = None,
    flush_s: ArrayLike | None = None,
    frame_wire_bytes: ArrayLike = FRAME_WIRE_BYTES,
) -> FloatArray:
    """Longest wait of a lost packet for the end of its block: (k-1)*g + h*T, cut short by a flush timer.

    Parameters
    ----------
    data_packets, parity_packets
        k and h.
    rate_bps
        Line rate in bits per second; T is the serialisation of a frame at it.
    gap_s
        g, seconds between data packets; None for back to back (g = T).
    flush_s
        Encoder's flush timer in seconds, or None for no timer, when an idle source has no bound.
    frame_wire_bytes
        Octets of a frame on the wire. All broadcast; queueing comes on top.

    Raises
    ------
    ValueError
        When a count is too small or not whole, or a rate, time or size is not above 0.

    Examples
    --------
    >>> d = recovery_delay_max_s(data_packets=[5, 25], parity_packets=[5, 5], rate_bps=10e9)
    >>> (d * 1e6).round(1)
    array([11.1, 35.7])
    """
    k, h, frame_s, gap = _block_times(data_packets, parity_packets, rate_bps, gap_s, frame_wire_bytes)
    filling = (k - 1) * gap
    if flush_s is not None:
        filling = np.minimum(filling, arguments.positive("flush_s", flush_s))
    return np.asarray(filling + h * frame_s)


def recovery_delay_mean_s(
    *,
    data_packets: ArrayLike,
    parity_packets: ArrayLike,
    rate_bps: ArrayLike,
    gap_s: ArrayLike | None = None,
    frame_wire_bytes: ArrayLike = FRAME_WIRE_BYTES,
) -> FloatArray:
    """Mean wait of a lost packet for the end of its block, (k-1)/2*g + h*T; arguments as for the longest.

    Examples
    --------
    >>> d = recovery_delay_mean_s(data_packets=[5, 25], parity_packets=[5, 5], rate_bps=10e9)
    >>> (d * 1e6).round(1)
    array([ 8.6, 20.9])
    """
    k, h, frame_s, gap = _block_times(data_packets, parity_packets, rate_bps, gap_s, frame_wire_bytes)
    return np.asarray((k - 1) / 2 * gap + h * frame_s)


def _block_times(
    data_packets: ArrayLike,
    parity_packets: ArrayLike,
    rate_bps: ArrayLike,
    gap_s: ArrayLike | None,
    frame_wire_bytes: ArrayLike,
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, FloatArray]:
    """Return k, h, the seconds one frame takes, and the seconds between two data packets."""
    bits = arguments.positive("frame_wire_bytes", frame_wire_bytes) * BITS_PER_BYTE
    frame_s = np.asarray(bits / arguments.positive("rate_bps", rate_bps))
    gap = frame_s if gap_s is None else arguments.positive("gap_s", gap_s)
    return _data(data_packets), arguments.count("parity_packets", parity_packets), frame_s, gap
