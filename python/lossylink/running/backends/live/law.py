"""The throughput of a long flow beside the law of Mathis et al., both as measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lossylink.theory import mathis


def law(row: Mapping[str, Any], bps: float) -> dict[str, Any]:
    """Hold the throughput against sqrt(3/2) * MSS / (RTT * sqrt(p)), both as measured."""
    if not row["frames_lost"]:
        return {"law_mbps": None, "law_ratio": None}
    law_bps = float(
        mathis.bandwidth_bps(
            mss_bytes=row["mss_bytes"],
            rtt_s=row["rtt_mean_ms"] / 1e3,
            loss_ratio=row["realised_loss_ratio"],
            constant=mathis.PERIODIC,
        )
    )
    return {"law_mbps": law_bps / 1e6, "law_ratio": bps / law_bps}
