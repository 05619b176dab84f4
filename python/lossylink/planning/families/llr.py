"""What link-level retry would do for a link: replays, losses left, speed, delays and the sender's buffer.

Speed and loss are the closed forms of `lossylink.theory.llr`; the pipeline is the switch profile's. Window
and timer are those that the simulator gives a link when nobody chooses (LLR-20).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from lossylink.planning.link import NANOSECOND_S, PROBE_FRAMES, Link
from lossylink.planning.losses import losses_within
from lossylink.planning.prediction import (
    BOUND,
    CHAIN,
    ESTIMATE,
    EXACT,
    SIMULATED,
    Figure,
    Outline,
    Prediction,
)
from lossylink.planning.stress import late_us, simulate
from lossylink.theory import llr
from lossylink.theory.bursts import Chain, Retry, link_level_retry

MOST_REPLAYS: Final = llr.UNLIMITED_REPLAYS - 1
"""The most that still flush: a count beyond never gives a dead link up."""

MEETING: Final = 0.1
"""Losses within a lag from which frames wait for more than their own replay."""

GAP_OCTETS: Final = 12
"""Between two frames; of what a frame takes on the wire, the sender does not keep it."""


def plan(link: Link, *, target: float, budget_us: float | None) -> Iterable[Prediction]:
    """Predict the fewest replays that meet target and budget."""
    yield predict(link, replays=fewest_replays(link, target=target, budget_us=budget_us))


def outline(link: Link, *, target: float) -> Iterable[Outline]:
    """Outline the fewest replays that meet the target."""
    replays = fewest_replays(link, target=target, budget_us=None)
    yield Outline(f"llr:replays={replays}", loss_left(link, replays), speed_left_gbps(link, replays))


def fewest_replays(link: Link, *, target: float, budget_us: float | None) -> int:
    """Return the fewest replays that meet the target, or as many as the budget allows.

    Examples
    --------
    >>> link = Link(rate_bps=10**11, propagation_ps=0, loss_ratio=1e-3)
    >>> fewest_replays(link, target=1e-8, budget_us=None), fewest_replays(link, target=1e-8, budget_us=10)
    (3, 1)
    """
    needed = _fewest_for(link, target)
    if budget_us is None:
        return needed
    first_us, second_us = (_worst_s(link, replays) * 1e6 for replays in (1, 2))
    allowed = 1 + max(0, math.floor((budget_us - first_us) / (second_us - first_us)))
    return min(needed, allowed)


def _fewest_for(link: Link, target: float) -> int:
    """The fewest replays that meet the target, or the most."""
    if _chain(link) is not None:
        # Each replay leaves less; the most are tried first, for bursts may defeat any number.
        counts = [MOST_REPLAYS, *range(1, MOST_REPLAYS)]
        if loss_left(link, counts.pop(0)) > target:
            return MOST_REPLAYS
        return next((replays for replays in counts if loss_left(link, replays) <= target), MOST_REPLAYS)
    residual = llr.residual_loss_ratio(
        loss_ratio=link.loss_ratio,
        replays=np.arange(1, MOST_REPLAYS + 1),
        window_frames=window_frames(link),
        init_frames=_init_frames(link),
    )
    return int(np.argmax(residual <= target)) + 1 if residual[-1] <= target else MOST_REPLAYS


def predict(link: Link, *, replays: int) -> Prediction:
    """Predict what link-level retry does for a link."""

    def at(loss_ratio: float) -> tuple[float, float]:
        return effective_loss(link, replays, loss_ratio), speed_gbps(link, replays, loss_ratio)

    method = EXACT if link.chain is None else CHAIN if _chain(link) else BOUND
    return Prediction(
        protection=f"llr:replays={replays}",
        effective_loss_ratio=Figure(loss_left(link, replays), method),
        effective_speed_gbps=Figure(speed_left_gbps(link, replays), ESTIMATE if link.is_coded else method),
        added_latency_us_typical=_typical(link, replays),
        added_latency_us_worst=Figure(_worst_s(link, replays) * 1e6, BOUND),
        sender_buffer_kb=Figure(bytes_needed(link) / 1e3, BOUND),
        receiver_buffer_kb=Figure(0.0, EXACT),
        lost_together=float(window_frames(link)),
        at=at,
    )


def _typical(link: Link, replays: int) -> Figure:
    """A lag; where losses meet within one, frames wait for each other, and a short run says how long."""
    lag = lag_frames(link)
    if link.loss_ratio * lag > MEETING:
        # Where most frames are lost, each is sent many times: the run has as many frames on the line as any.
        packets = math.ceil(PROBE_FRAMES * (1 - link.loss_ratio))
        row = simulate(link, f"llr:replays={replays}", packets=packets)
        late = late_us(row)
        if late is not None:
            return Figure(late, SIMULATED)
    return Figure(lag * link.serialisation_s() * 1e6, ESTIMATE)


def effective_loss(link: Link, replays: int, loss_ratio: float) -> float:
    """Loss left on a link that loses another share of its frames."""
    return loss_left(link.at(loss_ratio), replays)


def speed_gbps(link: Link, replays: int, loss_ratio: float) -> float:
    """Speed that replays leave there, in Gb/s; a run may have lost nothing at all."""
    return speed_left_gbps(link.at(loss_ratio), replays) if loss_ratio > 0 else link.rate_bps / 1e9


def loss_left(link: Link, replays: int) -> float:
    """Loss left by a busy sender, which gives a whole window up in a flush."""
    if (chain := _chain(link)) is not None:
        return _along_chain(link, chain, replays).residual_loss_ratio
    return float(
        llr.residual_loss_ratio(
            loss_ratio=link.loss_ratio,
            replays=replays,
            window_frames=window_frames(link),
            init_frames=_init_frames(link),
        )
    )


def speed_left_gbps(link: Link, replays: int) -> float:
    """Speed that replays leave, in Gb/s."""
    if (chain := _chain(link)) is not None:
        return link.rate_bps * _along_chain(link, chain, replays).delivered_share / 1e9
    # Frames that one codeword takes share a replay.
    events = link.loss_ratio / link.mean_burst() if link.is_coded else link.loss_ratio
    share = llr.delivered_share(
        loss_ratio=events,
        replays=replays,
        lag_frames=lag_frames(link),
        timer_frames=_timer_s(link) / link.serialisation_s(),
        init_frames=_init_frames(link),
    )
    return link.rate_bps * float(share) / 1e9


def _chain(link: Link) -> Chain | None:
    """The chain along which frames and their replays are lost; nothing where a replay is lost on its own.

    A replay comes when the codewords of a line are long over. Frames that are lost with one codeword share a
    replay, so that independent losses are a bound.
    """
    return None if link.is_coded else link.chain


def _along_chain(link: Link, chain: Chain, replays: int) -> Retry:
    return link_level_retry(
        chain,
        replays=replays,
        lag_frames=lag_frames(link),
        window_frames=window_frames(link),
        timer_frames=_timer_s(link) / link.serialisation_s(),
        init_frames=_echo_frames(link),
    )


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


def _init_frames(link: Link) -> float:
    """Frames without a number: until INIT is echoed, and a replay timer more for each INIT lost."""
    repeats = link.loss_ratio / (1 - link.loss_ratio)
    return _echo_frames(link) + repeats * _timer_s(link) / link.serialisation_s()


def _echo_frames(link: Link) -> float:
    """Frames until an INIT that arrives is echoed."""
    delays = _delays(link)
    flights_s: float = 2 * (delays["propagation_s"] + delays["pipeline_s"])
    return flights_s / link.serialisation_s() + 1


def _worst_s(link: Link, replays: int) -> float:
    """A frame at the tail, whose every replay but the last is lost, behind others that are replayed first.

    The timer starts anew when frames before it are acknowledged, up to a loop after it was sent; the replay
    that brings it carries all that is outstanding before it. Each loss among those costs a lag; there are no
    more of them, but for once in a million windows.
    """
    loop_s = float(llr.loop_s(**_delays(link)))
    replay_s = bytes_needed(link) * 8 / link.rate_bps
    before_s = losses_within(link, frames=2 * window_frames(link)) * lag_frames(link) * link.serialisation_s()
    return loop_s + replays * _timer_s(link) + replay_s + before_s
