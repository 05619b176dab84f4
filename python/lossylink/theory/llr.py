"""Link-level retry's closed forms: loop, buffer, replay timer, the W of go-back-N, speed and residual loss.

Source: docs/protocols/llr.md, rules LLR-12, LLR-13 and LLR-20, derived there; the sizes are held against the
sample links of SONiC's LLR design. Losses are independent, the line is never idle, and ACKs and NACKs are not
lost.

Go-back-N gives every frame that a lost one takes with it another turn, so what counts is how often the *head*
is lost: the first frame that has not arrived yet. Its first loss is asked for and costs W frames. A replay
whose head is lost again is not asked for (LLR-10) and costs the replay timer, R frames. A frame is head once,
and loses r + 1 turns in a row with

    q = p^(r + 1)

After r replays that is a flush (LLR-13). By then the timer has run and the sender has sent all that it may:
a flush gives up the whole window of F frames. Until INIT is echoed U frames go without a number, and a share
p of them is lost. For each head, 1 - q + q F + q U frames are offered, and q F + q U p of them are lost. That
takes the time of

    1 + p W + R p^2 (1 - p^r) / (1 - p) + q U

frames. Left out: the one frame more that discovery takes where the next frame is lost too.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray

BITS_PER_BYTE: Final = 8
PICOSECONDS: Final = 1e12

SPACING_BYTES: Final = 2048
"""Octets of line from one control set to the next (LLR-7)."""

CONTROL_OCTETS: Final = 8
"""A control set on the line (LLR-6)."""

TIMER_LOOPS: Final = 4
"""Loops in the replay timer; calibrated on the sample links (LLR-20)."""

WHOLE_FRAMES: Final = 2
"""Frames that count whole beside the loop: one is judged at its last bit, one is in service (LLR-20)."""

UNLIMITED_REPLAYS: Final = 255
"""The count that never flushes (LLR-13)."""

PHASES: Final = 1024
"""Places in the spacing over which the wait for the outlet is averaged, as in the simulator's sources."""


def loop_s(
    *,
    rate_bps: ArrayLike,
    propagation_s: ArrayLike,
    pipeline_s: ArrayLike,
    spacing_bytes: ArrayLike = SPACING_BYTES,
) -> FloatArray:
    """Loop in seconds: there and back, and the longest wait for the outlet.

    Parameters
    ----------
    rate_bps
        Line rate in bits per second.
    propagation_s
        One way over the cable, in seconds.
    pipeline_s
        One way through both ends, in seconds.
    spacing_bytes
        Octets from one control set to the next. All broadcast.

    Raises
    ------
    ValueError
        When a rate or a spacing is not above 0 or a time is negative.

    Examples
    --------
    >>> loops_s = loop_s(rate_bps=[400e9, 800e9], propagation_s=200e-9, pipeline_s=460e-9)
    >>> (loops_s * 1e6).round(2)
    array([1.36, 1.34])
    """
    ways = arguments.not_negative("propagation_s", propagation_s)
    ways = ways + arguments.not_negative("pipeline_s", pipeline_s)
    return np.asarray(2 * ways + _on_line_s("spacing_bytes", spacing_bytes, rate_bps))


def bytes_needed(
    *,
    rate_bps: ArrayLike,
    propagation_s: ArrayLike,
    pipeline_s: ArrayLike,
    frame_wire_bytes: ArrayLike,
    spacing_bytes: ArrayLike = SPACING_BYTES,
) -> FloatArray:
    """Bytes that the sender must keep so that the line never waits: rate x (loop + spacing) + 2 frames.

    Parameters
    ----------
    rate_bps, propagation_s, pipeline_s, spacing_bytes
        As for `loop_s`.
    frame_wire_bytes
        Octets that a frame takes on the wire, preamble and gap included. All broadcast.

    Raises
    ------
    ValueError
        When a rate or a size is not above 0 or a time is negative.

    Examples
    --------
    The sample link of SONiC with 800 Gb/s over 40 m has 135,000 B.

    >>> float(bytes_needed(rate_bps=800e9, propagation_s=200e-9, pipeline_s=460e-9, frame_wire_bytes=511))
    137118.0
    """
    loop = loop_s(
        rate_bps=rate_bps, propagation_s=propagation_s, pipeline_s=pipeline_s, spacing_bytes=spacing_bytes
    )
    rate = arguments.positive("rate_bps", rate_bps)
    frame = arguments.positive("frame_wire_bytes", frame_wire_bytes)
    kept = rate * loop / BITS_PER_BYTE + np.asarray(spacing_bytes) + WHOLE_FRAMES * frame
    return np.asarray(np.floor(kept + 1e-6))


def replay_timer_s(
    *,
    rate_bps: ArrayLike,
    propagation_s: ArrayLike,
    pipeline_s: ArrayLike,
    frame_wire_bytes: ArrayLike,
    spacing_bytes: ArrayLike = SPACING_BYTES,
) -> FloatArray:
    """Replay timer in seconds that follows from the link: four loops, each with two frames.

    Parameters
    ----------
    rate_bps, propagation_s, pipeline_s, spacing_bytes
        As for `loop_s`.
    frame_wire_bytes
        Octets that a frame takes on the wire. All broadcast.

    Raises
    ------
    ValueError
        When a rate or a size is not above 0 or a time is negative.

    Examples
    --------
    >>> timer_s = replay_timer_s(
    ...     rate_bps=400e9, propagation_s=200e-9, pipeline_s=460e-9, frame_wire_bytes=511
    ... )
    >>> f"{float(timer_s) * 1e6:.2f} us"
    '5.53 us'
    """
    loop = loop_s(
        rate_bps=rate_bps, propagation_s=propagation_s, pipeline_s=pipeline_s, spacing_bytes=spacing_bytes
    )
    frame_s = _on_line_s("frame_wire_bytes", frame_wire_bytes, rate_bps)
    return np.asarray(TIMER_LOOPS * (loop + WHOLE_FRAMES * frame_s))


def lag_frames(
    *,
    rate_bps: ArrayLike,
    propagation_s: ArrayLike,
    pipeline_s: ArrayLike,
    frame_wire_bytes: ArrayLike,
    spacing_bytes: ArrayLike = SPACING_BYTES,
    errors_seen: bool = False,
) -> FloatArray:
    """Frames from the start of a lost frame to the start of its replay, on a busy line: the W of go-back-N.

    The receiver learns of the loss at the end of the next frame, or of the lost one where it sees errors. The
    NACK waits for the outlet and flies back, and the sender finishes the frame in service. The same sum in
    whole picoseconds as ``crates/sim/src/net/llr/lag.rs``.

    Parameters
    ----------
    rate_bps, propagation_s, pipeline_s, spacing_bytes
        As for `loop_s`.
    frame_wire_bytes
        Octets that a frame takes on the wire. All broadcast.
    errors_seen
        Whether the receiver sees a corrupted frame when it arrives.

    Raises
    ------
    ValueError
        When a rate or a size is not above 0 or a time is negative.

    Examples
    --------
    >>> delays = {"rate_bps": 100e9, "propagation_s": 0, "pipeline_s": 1e-7}
    >>> float(lag_frames(**delays, frame_wire_bytes=1538, spacing_bytes=1538))
    4.0
    """
    frame = _picoseconds(_on_line_s("frame_wire_bytes", frame_wire_bytes, rate_bps))
    spacing = _picoseconds(_on_line_s("spacing_bytes", spacing_bytes, rate_bps))
    control = _picoseconds(_on_line_s("control_octets", CONTROL_OCTETS, rate_bps))
    ways = _picoseconds(arguments.not_negative("propagation_s", propagation_s))
    ways = ways + _picoseconds(arguments.not_negative("pipeline_s", pipeline_s))
    # From the last good frame to the discovery, at the receiver.
    gap = frame * (1 if errors_seen else 2)
    without_wait = (gap + 2 * ways + control)[..., np.newaxis]
    frame, spacing, gap = (times[..., np.newaxis] for times in (frame, spacing, gap))
    phase = 2 * np.arange(PHASES) + 1
    # Under load an ACK leaves whenever the spacing allows; the NACK takes the place of the next one.
    following = np.where(spacing <= frame, 0, spacing * phase // (2 * PHASES))
    waits = np.where(following > gap, following - gap, np.maximum(0, following + spacing - gap))
    return np.asarray(np.mean(-(-(without_wait + waits) // frame), axis=-1))


def goodput_share(*, loss_ratio: ArrayLike, lag_frames: ArrayLike) -> FloatArray:
    """Share of the line that go-back-N delivers, to first order: 1 / (1 + p W).

    Parameters
    ----------
    loss_ratio
        p, from 0 to 1.
    lag_frames
        W, at least 0; both broadcast. Holds while p is small beside 1 / R, R the replay timer in frames:
        `delivered_share` has the rest.

    Raises
    ------
    ValueError
        When a ratio lies outside 0..1 or a lag is negative.

    Examples
    --------
    >>> goodput_share(loss_ratio=0.02, lag_frames=[2, 8, 88]).round(3)
    array([0.962, 0.862, 0.362])
    """
    p = arguments.ratio("loss_ratio", loss_ratio)
    return np.asarray(1 / (1 + p * arguments.not_negative("lag_frames", lag_frames)))


def flush_ratio(*, loss_ratio: ArrayLike, replays: ArrayLike) -> FloatArray:
    """Flushes a frame: q = p^(r + 1); 255 replays never flush.

    Parameters
    ----------
    loss_ratio
        p, from 0 to 1.
    replays
        r, at least 1; both broadcast.

    Raises
    ------
    ValueError
        When a ratio lies outside 0..1 or a count is not a whole number of at least 1.

    Examples
    --------
    >>> flush_ratio(loss_ratio=0.01, replays=[1, 3, 255])
    array([1.e-04, 1.e-08, 0.e+00])
    """
    p = arguments.ratio("loss_ratio", loss_ratio)
    r = arguments.count("replays", replays, at_least=1)
    return np.asarray(np.where(r >= UNLIMITED_REPLAYS, 0.0, p ** (r + 1.0)))


def residual_loss_ratio(
    *, loss_ratio: ArrayLike, replays: ArrayLike, window_frames: ArrayLike, init_frames: ArrayLike = 0.0
) -> FloatArray:
    """Share of the offered frames that stays lost: about F p^(r + 1), for each flush gives up a window.

    Parameters
    ----------
    loss_ratio
        p, from 0 to 1.
    replays
        r, at least 1; 255 never flush.
    window_frames
        F, frames that may be outstanding: what a busy sender gives up in a flush. 1 for a frame alone.
    init_frames
        U, frames that go without a number before INIT is echoed. All broadcast.

    Raises
    ------
    ValueError
        When a ratio lies outside 0..1, a count is not a whole number of at least 1 or a window is negative.

    Examples
    --------
    >>> loss = residual_loss_ratio(loss_ratio=0.01, replays=1, window_frames=[1, 15])
    >>> loss.round(6)
    array([0.0001  , 0.001498])
    """
    p = arguments.ratio("loss_ratio", loss_ratio)
    q = flush_ratio(loss_ratio=p, replays=replays)
    window = arguments.not_negative("window_frames", window_frames)
    bare = arguments.not_negative("init_frames", init_frames)
    return np.asarray(q * (window + bare * p) / (1 - q + q * (window + bare)))


def delivered_share(
    *,
    loss_ratio: ArrayLike,
    replays: ArrayLike,
    lag_frames: ArrayLike,
    timer_frames: ArrayLike,
    init_frames: ArrayLike = 0.0,
) -> FloatArray:
    """Share of the line that a busy sender delivers, lost replays and flushes counted.

    Parameters
    ----------
    loss_ratio
        p, from 0 to below 1.
    replays
        r, at least 1; 255 never flush.
    lag_frames
        W.
    timer_frames
        R, the replay timer in frames.
    init_frames
        U, frames that go without a number before INIT is echoed. All broadcast.

    Raises
    ------
    ValueError
        When a ratio lies outside 0..1, a count is not a whole number of at least 1 or a time is negative.

    Examples
    --------
    >>> share = delivered_share(loss_ratio=[1e-4, 1e-2], replays=3, lag_frames=88, timer_frames=160)
    >>> share.round(3)
    array([0.991, 0.527])
    """
    p = arguments.ratio("loss_ratio", loss_ratio)
    r = arguments.count("replays", replays, at_least=1)
    q = flush_ratio(loss_ratio=p, replays=r)
    bare = arguments.not_negative("init_frames", init_frames)
    again = p * arguments.not_negative("lag_frames", lag_frames)
    timed = np.where(p < 1, p**2 * (1 - p ** (r + 0.0)) / np.where(p < 1, 1 - p, 1.0), r)
    timed = timed * arguments.not_negative("timer_frames", timer_frames)
    return np.asarray((1 - q + q * bare * (1 - p)) / (1 + again + timed + q * bare))


def _on_line_s(name: str, octets: ArrayLike, rate_bps: ArrayLike) -> FloatArray:
    """Seconds for which so many octets occupy the line."""
    rate = arguments.positive("rate_bps", rate_bps)
    return np.asarray(arguments.positive(name, octets) * BITS_PER_BYTE / rate)


def _picoseconds(seconds: FloatArray) -> np.ndarray:
    return np.asarray(np.rint(seconds * PICOSECONDS), dtype=np.int64)
