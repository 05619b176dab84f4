"""Forward error correction under one flow: what the code saves, what it costs, what a queue does to both."""

from __future__ import annotations

from lossylink.declared.column import CHECKS, Column
from lossylink.declared.experiment import COMMON_ROW, LONG_KEYS, PATH_KEYS, TCP_KEYS, Experiment

EXPERIMENT = Experiment(
    name="fec",
    summary="TCP or UDP over forward error correction",
    own_keys=(
        *(*TCP_KEYS, *PATH_KEYS, *LONG_KEYS, "flow.trials", "flow.precision"),
        *("traffic.source", "traffic.rate", "traffic.burst", "traffic.frame"),
    ),
    row_keys=(
        *COMMON_ROW,
        *("traffic_source", "congestion_control", "fec_k", "fec_h", "throughput_gbps", "cwnd_packets_mean"),
        *("latency_us_mean", "latency_us_p50", "latency_us_p99", "latency_us_p99_9"),
        *("latency_us_p99_99", "latency_us_max"),
        *(f"latency_intact_us_{name}" for name in ("mean", "p50", "p99", "max")),
        *(f"latency_recovered_us_{name}" for name in ("mean", "p50", "p99", "max")),
        *("packets_intact", "packets_recovered", "queue_bytes_mean", "queue_bytes_max"),
        *("queue_drops", "queue_drops_data", "queue_drops_parity", "meter_drops", "meter_marks"),
        *("residual_loss_rate", "residual_loss_theory", "checks"),
    ),
    headline=(
        Column("throughput_gbps", "speed", "Gb/s", versus=True),
        Column("latency_us_mean", "latency", "mean us"),
        Column("latency_us_p99", "p99", "us"),
        Column("residual_loss_rate", "residual loss", kind="share", of="frames_offered"),
        Column("queue_drops", "queue drops", kind="count"),
        CHECKS,
    ),
    spreads="trials",
    sources=("tcp", "udp-smooth", "udp-bursty"),
)
