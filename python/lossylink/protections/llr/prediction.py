"""What link-level retry would do for a link: replays, losses left, speed, delays and the sender's buffer.

Speed and loss are the closed forms of `lossylink.theory.llr`; the pipeline is the switch profile's. Window
and timer are those that the simulator gives a link when nobody chooses (LLR-20).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from lossylink.plan.link import NANOSECOND_S, Link
from lossylink.plan.prediction import BOUND, ESTIMATE, EXACT, Figure, Prediction
from lossylink.theory import llr

MOST_REPLAYS: Final = llr.UNLIMITED_REPLAYS - 1
"""The most that still flush: a count beyond never gives a dead link up."""

GAP_OCTETS: Final = 12
"""Between two frames; of what a frame takes on the wire, the sender does not keep it."""


def fewest_replays(link: Link, *, target: float, budget_us: float | None) -> int:
    """Return the fewest replays that meet the target, or as many as the budget allows.

    Examples
    --------
    >>> link = Link(rate_bps=10**11, propagation_ps=0, loss_ratio=1e-3)
    >>> fewest_replays(link, target=1e-8, budget_us=None), fewest_replays(link, target=1e-8, budget_us=10)
    (3, 1)
    """
    counts = np.arange(1, MOST_REPLAYS + 1)
    residual = llr.residual_loss_ratio(
        loss_ratio=link.loss_ratio,
        replays=counts,
        window_frames=window_frames(link),
        init_frames=_init_frames(link, link.loss_ratio),
    )
    needed = int(np.argmax(residual <= target)) + 1 if residual[-1] <= target else MOST_REPLAYS
    if budget_us is None:
        return needed
    first_us, second_us = (_worst_s(link, replays) * 1e6 for replays in (1, 2))
    allowed = 1 + max(0, math.floor((budget_us - first_us) / (second_us - first_us)))
    return min(needed, allowed)


def predict(link: Link, *, replays: int) -> Prediction:
    """Predict what link-level retry does for a link."""

    def at(loss_ratio: float) -> tuple[float, float]:
        return effective_loss(link, replays, loss_ratio), speed_gbps(link, replays, loss_ratio)

    loss, speed = at(link.loss_ratio)
    return Prediction(
        protection=f"llr:replays={replays}",
        effective_loss_ratio=Figure(loss, EXACT),
        effective_speed_gbps=Figure(speed, EXACT),
        added_latency_us_typical=Figure(lag_frames(link) * link.serialisation_s() * 1e6, ESTIMATE),
        added_latency_us_worst=Figure(_worst_s(link, replays) * 1e6, BOUND),
        sender_buffer_kb=Figure(bytes_needed(link) / 1e3, BOUND),
        receiver_buffer_kb=Figure(0.0, EXACT),
        at=at,
    )


def effective_loss(link: Link, replays: int, loss_ratio: float) -> float:
    """Loss left by a busy sender, which gives a whole window up in a flush."""
    return float(
        llr.residual_loss_ratio(
            loss_ratio=loss_ratio,
            replays=replays,
            window_frames=window_frames(link),
            init_frames=_init_frames(link, loss_ratio),
        )
    )


def speed_gbps(link: Link, replays: int, loss_ratio: float) -> float:
    """Speed that replays leave, in Gb/s."""
    share = llr.delivered_share(
        loss_ratio=loss_ratio,
        replays=replays,
        lag_frames=lag_frames(link),
        timer_frames=_timer_s(link) / link.serialisation_s(),
        init_frames=_init_frames(link, loss_ratio),
    )
    return link.rate_bps * float(share) / 1e9


def lag_frames(link: Link) -> float:
    """W: frames from a loss to its replay."""
    return float(llr.lag_frames(frame_wire_bytes=link.wire_bytes, **_delays(link)))


def bytes_needed(link: Link) -> float:
    """Bytes that may be outstanding."""
    return float(llr.bytes_needed(frame_wire_bytes=link.wire_bytes, **_delays(link)))


def window_frames(link: Link) -> int:
    """Frames that fill them; the bound in frames is for shorter ones."""
    return max(1, math.floor(bytes_needed(link) / (link.wire_bytes - GAP_OCTETS)))


def _delays(link: Link) -> dict[str, Any]:
    pipeline_s = link.profile["data_pipeline_ns"] * NANOSECOND_S
    return {"rate_bps": link.rate_bps, "propagation_s": link.propagation_s, "pipeline_s": pipeline_s}


def _timer_s(link: Link) -> float:
    return float(llr.replay_timer_s(frame_wire_bytes=link.wire_bytes, **_delays(link)))


def _init_frames(link: Link, loss_ratio: float) -> float:
    """Frames without a number: until INIT is echoed, and a replay timer more for each INIT lost."""
    delays = _delays(link)
    flights_s: float = 2 * (delays["propagation_s"] + delays["pipeline_s"])
    repeats = loss_ratio / (1 - loss_ratio)
    return (flights_s + repeats * _timer_s(link)) / link.serialisation_s() + 1


def _worst_s(link: Link, replays: int) -> float:
    """A frame at the tail, whose every replay but the last is lost.

    The timer starts anew when frames before it are acknowledged, up to a loop after it was sent; the replay
    that brings it carries all that is outstanding before it.
    """
    loop_s = float(llr.loop_s(**_delays(link)))
    replay_s = bytes_needed(link) * 8 / link.rate_bps
    return loop_s + replays * _timer_s(link) + replay_s
