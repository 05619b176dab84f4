"""The simulator's figures, to stand beside those of switches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import lossylink

_PACKETS = 10_000_000


def stress(protection: str, loss_ratio: float, *, frame_bytes: int) -> Mapping[str, Any]:
    """Return the row of a stress test."""
    settings = {"loss": loss_ratio, "traffic.packets": _PACKETS, "traffic.frame": f"{frame_bytes}B"}
    (row,) = lossylink.run("stress", protection=protection, settings=settings).records
    return row


def flow(
    protection: str,
    loss_ratio: float,
    *,
    rate_bps: int,
    window_bytes: int,
    round_trip_ms: float,
    seconds: int,
) -> Mapping[str, Any]:
    """Return the row of one TCP flow, all of which counts."""
    settings = {
        "link.rate": rate_bps,
        "loss": loss_ratio,
        "switch.queue": "560KB",
        "transport.receive_window": f"{window_bytes}B",
        "path.rtt": f"{round_trip_ms}ms",
        "run.duration": f"{seconds}s",
        "run.warmup": "0s",
        "run.cooldown": "0s",
    }
    (row,) = lossylink.run("throughput", protection=protection, settings=settings).records
    return row
