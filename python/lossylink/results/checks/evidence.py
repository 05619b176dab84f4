"""What a measured TCP flow tells about its own method: the facts that the six checks judge.

Evidence is built from a row and the configuration that produced it (base units, the simulator's words),
the same way for a simulated and for a live run. A fact that nobody measured is `None`, never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct, convert

from lossylink.declared import experiments

PICOSECONDS_PER_SECOND: Final = 10**12

QUANTISED_STEPS: Final = 2**20
"""The published switch compares a 20-bit random number with floor(p * 2^20)."""

_INDEPENDENT_LOSS: Final = frozenset({"bernoulli", "quantised"})


_Count = Annotated[int, Meta(ge=0)]
_PositiveCount = Annotated[int, Meta(gt=0)]
_Positive = Annotated[float, Meta(gt=0)]
_Ratio = Annotated[float, Meta(ge=0, le=1)]


class FlowEvidence(Struct, frozen=True, kw_only=True):
    """Facts about one TCP flow, as requested and as found; `None` where nothing was measured."""

    queueless: bool = True
    """Whether the experiment claims that no queue forms."""
    loss_is_independent: bool = True
    """Whether each frame is lost on its own, so that the binomial interval holds."""
    requested_loss_ratio: _Ratio | None = None
    frames_offered: _Count | None = None
    """Frames handed to the lossy direction of the link while it corrupted."""
    frames_lost: _Count | None = None
    duration_s: _Positive | None = None
    rtt_mean_ms: _Positive | None = None
    rtt_min_ms: _Positive | None = None
    queue_drops: _Count | None = None
    queue_bytes_max: _Count | None = None
    link_rate_bps: _PositiveCount | None = None
    requested_mss_bytes: _PositiveCount | None = None
    effective_mss_bytes: _PositiveCount | None = None
    timestamps: bool | None = None
    mtu_bytes: _PositiveCount | None = None
    largest_frame_bytes: _PositiveCount | None = None
    """Largest frame seen on the link: Ethernet header included, FCS not."""


def evidence_from(row: Mapping[str, Any], scenario: Mapping[str, Any]) -> FlowEvidence:
    """Collect what a row and the configuration behind it say about the flow.

    Parameters
    ----------
    row
        One result row. What was asked for comes from `mss_requested_bytes` and `loss_ratio` (or
        `loss_rate`) where the row has them, so that a set-up which asks for one thing and configures
        another is seen.
    scenario
        The configuration that the simulator or the lab was given: sections `link`, `loss`,
        `transport` and `run`, numbers in base units. An unused section may be absent.

    Raises
    ------
    ValueError
        When a fact is impossible, such as a negative count.

    Examples
    --------
    >>> evidence = evidence_from(
    ...     {"loss_ratio": 0.01, "mss_bytes": 1448, "frames_offered": 1000, "frames_lost": 12},
    ...     {"experiment": "mathis", "transport": {"mss_bytes": 1460, "timestamps": True}},
    ... )
    >>> evidence.requested_mss_bytes, evidence.effective_mss_bytes, evidence.queueless
    (1460, 1448, True)
    """
    link = scenario.get("link", {})
    transport = scenario.get("transport", {})
    forward = scenario.get("loss", {}).get("forward", {})
    facts = {
        "queueless": _is_queueless(scenario.get("experiment")),
        "loss_is_independent": forward.get("model", "bernoulli") in _INDEPENDENT_LOSS,
        "requested_loss_ratio": _requested_loss_ratio(row, forward),
        "frames_offered": row.get("frames_at_risk", row.get("frames_offered")),
        "frames_lost": row.get("frames_lost"),
        "duration_s": row.get("duration_s", _configured_duration_s(scenario.get("run", {}))),
        "rtt_mean_ms": row.get("rtt_mean_ms"),
        "rtt_min_ms": row.get("rtt_min_ms"),
        "queue_drops": row.get("queue_drops"),
        "queue_bytes_max": row.get("queue_bytes_max"),
        "link_rate_bps": link.get("rate_bps"),
        "requested_mss_bytes": row.get("mss_requested_bytes", transport.get("mss_bytes")),
        "effective_mss_bytes": row.get("mss_bytes"),
        "timestamps": transport.get("timestamps"),
        "mtu_bytes": link.get("mtu_bytes"),
        "largest_frame_bytes": row.get("largest_frame_bytes"),
    }
    return convert(facts, FlowEvidence)


def _is_queueless(experiment: str | None) -> bool:
    """Whether the experiment claims that no queue forms; elsewhere a queue is part of the study."""
    return experiment in experiments.names() and experiments.experiment_named(experiment).queueless


def _requested_loss_ratio(row: Mapping[str, Any], forward: Mapping[str, Any]) -> float | None:
    """Take what the row says was asked for, else what was configured, rounded as its model rounds it."""
    model = forward.get("model")
    asked: float | None = row.get("loss_ratio", row.get("loss_rate"))
    if asked is None and model in _INDEPENDENT_LOSS:
        asked = forward.get("p")
    if asked is None and model == "none":
        asked = 0.0
    if asked is not None and model == "quantised":
        return math.floor(asked * QUANTISED_STEPS) / QUANTISED_STEPS
    return asked


def _configured_duration_s(run: Mapping[str, Any]) -> float | None:
    """Seconds of the run that count: without its warm-up and its end."""
    duration = run.get("duration_ps")
    if duration is None:
        return None
    counted = duration - (run.get("warmup_ps") or 0) - (run.get("cooldown_ps") or 0)
    return float(counted / PICOSECONDS_PER_SECOND) if counted > 0 else None
