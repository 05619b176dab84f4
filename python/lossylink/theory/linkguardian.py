"""LinkGuardian's closed forms: copies, effective loss, non-blocking speed, pause expiry, sequence wrap.

Source: the SIGCOMM 2023 paper and the published artifact. The ordered mode's speed has no closed form:
its reorder buffer is a loop that drains only while the sender pauses, so the time lost per corruption
depends on the switch's delays (near 10 us at 100 Gb/s on a Tofino, which costs 8 % at a loss ratio of
1e-3). The non-blocking speed is its upper bound; the simulator gives the value.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray

BITS_PER_BYTE: Final = 8

TARGET_LOSS_RATIO: Final = 1e-8
"""Effective loss that the paper aims for: that of a healthy link."""

FRAME_WIRE_BYTES: Final = 1538
"""Octets that a full frame takes on the wire: 1518 with FCS, 8 of preamble, 12 of inter-frame gap."""

HEADER_BYTES: Final = 3
"""Octets of LinkGuardian's data header."""

SEQUENCE_NUMBERS: Final = 65_536
"""Size of the 16-bit sequence space; the era bit toggles at each wrap."""

PAUSE_QUANTUM_BITS: Final = 512
"""Bit times in one pause quantum (IEEE 802.1Qbb)."""

PAUSE_QUANTA: Final = 65_535
"""Quanta that the published pause frame asks for: the largest 16-bit number."""

EXPONENT_SLACK: Final = 1e-9
"""Subtracted before rounding up, so that 1e-4 squared counts as meeting 1e-8 in binary arithmetic."""


def copies(*, loss_ratio: ArrayLike, target_loss_ratio: ArrayLike = TARGET_LOSS_RATIO) -> NDArray[np.int64]:
    """Return the copies N with which p^(N+1) meets the target: ceil(log(target)/log(p)) - 1.

    Parameters
    ----------
    loss_ratio
        p, the link's loss ratio, above 0 and below 1.
    target_loss_ratio
        Effective loss to reach, above 0 and below 1; both broadcast. A protected link sends at least
        one copy, also where p meets the target by itself.

    Raises
    ------
    ValueError
        When a ratio lies outside 0..1.

    Examples
    --------
    >>> copies(loss_ratio=[1e-5, 1e-4, 1e-3, 1e-2])
    array([1, 1, 2, 3])
    """
    p = arguments.open_ratio("loss_ratio", loss_ratio)
    target = arguments.open_ratio("target_loss_ratio", target_loss_ratio)
    needed = np.ceil(np.log(target) / np.log(p) - EXPONENT_SLACK) - 1
    return np.asarray(np.maximum(1, needed), dtype=np.int64)


def effective_loss_ratio(
    *,
    loss_ratio: ArrayLike,
    copies: ArrayLike,
    reverse_loss_ratio: ArrayLike = 0.0,
    control_copies: ArrayLike = 1,
) -> FloatArray:
    """Loss left after one round of N copies: p^(N+1), and p q^C (1 - p^N) of the notifications.

    Parameters
    ----------
    loss_ratio
        p, from 0 to 1, independent from frame to frame.
    copies
        N, at least 0. Leaves out holes beyond the published cap of 5 and (ordered mode) frames skipped by its
        timeout.
    reverse_loss_ratio
        q, from 0 to 1: loss of control frames on the way back.
    control_copies
        C of each loss notification, at least 1. All broadcast.

    Raises
    ------
    ValueError
        When a ratio lies outside 0..1 or a count is negative or not whole.

    Examples
    --------
    >>> f"{float(effective_loss_ratio(loss_ratio=0.05, copies=1)):.2e}"
    '2.50e-03'
    >>> both = {"loss_ratio": 0.01, "reverse_loss_ratio": 0.01}
    >>> left = effective_loss_ratio(**both, copies=3, control_copies=[1, 2, 3])
    >>> [f"{float(ratio):.2e}" for ratio in left]
    ['1.00e-04', '1.01e-06', '2.00e-08']
    """
    p = arguments.ratio("loss_ratio", loss_ratio)
    q = arguments.ratio("reverse_loss_ratio", reverse_loss_ratio)
    n = arguments.count("copies", copies)
    c = arguments.count("control_copies", control_copies, at_least=1)
    return np.asarray(p ** (n + 1) + p * q**c * (1 - p**n))


def control_copies(
    *, reverse_loss_ratio: ArrayLike, target_loss_ratio: ArrayLike = TARGET_LOSS_RATIO
) -> NDArray[np.int64]:
    """Return the copies C of each control frame: the rule of `copies` on the way back (LG-46).

    Parameters
    ----------
    reverse_loss_ratio
        q, the loss ratio of the way back, from 0 and below 1.
    target_loss_ratio
        As in `copies`; both broadcast.

    Raises
    ------
    ValueError
        When a ratio lies outside 0..1.

    Examples
    --------
    >>> control_copies(reverse_loss_ratio=[0, 1e-4, 1e-2])
    array([1, 1, 3])
    """
    q = arguments.ratio("reverse_loss_ratio", reverse_loss_ratio)
    loses = q > 0
    return np.where(loses, copies(loss_ratio=np.where(loses, q, 0.5), target_loss_ratio=target_loss_ratio), 1)


def nonblocking_speed_bps(
    *,
    rate_bps: ArrayLike,
    loss_ratio: ArrayLike,
    copies: ArrayLike,
    frame_wire_bytes: ArrayLike = FRAME_WIRE_BYTES,
) -> FloatArray:
    """Effective speed of a saturated link in non-blocking mode: rate * (L / (L + 3)) / (1 + N*p).

    Parameters
    ----------
    rate_bps
        Line rate in bits per second.
    loss_ratio
        p, from 0 to 1.
    copies
        N of each retransmission.
    frame_wire_bytes
        L, octets of an unprotected frame on the wire, preamble and gap included. All broadcast.

    Raises
    ------
    ValueError
        When a rate or a size is not above 0, a ratio lies outside 0..1, or a count is not whole.

    Examples
    --------
    >>> f"{float(nonblocking_speed_bps(rate_bps=100e9, loss_ratio=1e-3, copies=2)) / 1e9:.3f}"
    '99.606'
    """
    rate = arguments.positive("rate_bps", rate_bps)
    p = arguments.ratio("loss_ratio", loss_ratio)
    frame = arguments.positive("frame_wire_bytes", frame_wire_bytes)
    repeated = 1 + arguments.count("copies", copies) * p
    return np.asarray(rate * frame / (frame + HEADER_BYTES) / repeated)


def pause_expiry_s(*, rate_bps: ArrayLike, quanta: ArrayLike = PAUSE_QUANTA) -> FloatArray:
    """Seconds after which a pause ends by itself: what a lost resume frame costs.

    Parameters
    ----------
    rate_bps
        Line rate in bits per second.
    quanta
        Pause quanta of 512 bit times, at least 0; both broadcast.

    Raises
    ------
    ValueError
        When a rate is not above 0 or the quanta are negative or not whole.

    Examples
    --------
    >>> (pause_expiry_s(rate_bps=[100e9, 25e9, 10e9]) * 1e6).round(1)
    array([ 335.5, 1342.2, 3355.4])
    """
    bits = arguments.count("quanta", quanta) * PAUSE_QUANTUM_BITS
    return np.asarray(bits / arguments.positive("rate_bps", rate_bps))


def sequence_wrap_s(*, rate_bps: ArrayLike, frame_wire_bytes: ArrayLike = FRAME_WIRE_BYTES) -> FloatArray:
    """Seconds in which a saturated link uses up the 16-bit sequence space.

    Parameters
    ----------
    rate_bps
        Line rate in bits per second.
    frame_wire_bytes
        Octets of an unprotected frame on the wire; the header is added here. Both broadcast.

    Raises
    ------
    ValueError
        When a rate or a size is not above 0.

    Examples
    --------
    >>> f"{float(sequence_wrap_s(rate_bps=100e9)) * 1e3:.2f} ms"
    '8.08 ms'
    """
    frame = arguments.positive("frame_wire_bytes", frame_wire_bytes) + HEADER_BYTES
    rate = arguments.positive("rate_bps", rate_bps)
    return np.asarray(SEQUENCE_NUMBERS * frame * BITS_PER_BYTE / rate)
