"""TCP under random loss against the inverse-square-root law."""

from __future__ import annotations

from lossylink.declared.column import CHECKS, Column
from lossylink.declared.experiment import COMMON_ROW, LONG_KEYS, TCP_KEYS, Experiment

EXPERIMENT = Experiment(
    name="mathis",
    summary="TCP under random loss against the Mathis law",
    own_keys=(*TCP_KEYS, *LONG_KEYS, "grid.*"),
    row_keys=(
        *COMMON_ROW,
        *("congestion_control", "mss_bytes", "rtt_ms", "loss_ratio"),
        *("model_mbps", "measured_mbps", "ratio", "realised_loss_ratio"),
        *("rtt_mean_ms", "rtt_min_ms", "loss_events", "checks"),
    ),
    headline=(
        Column("mss_bytes", "MSS", "B", kind="count"),
        Column("rtt_ms", "RTT", "ms"),
        Column("loss_ratio", "loss", kind="share"),
        Column("model_mbps", "model", "Mb/s"),
        Column("measured_mbps", "measured", "Mb/s"),
        Column("ratio", "ratio"),
        CHECKS,
    ),
    spreads="jobs",
    queueless=True,
    is_study=True,
)
