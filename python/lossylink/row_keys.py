"""The order of a row's keys for each experiment; what they mean is in ``docs/data-dictionary.md``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COMMON = ("protection", "loss_rate", "link_gbps")
_FCT = tuple(
    f"fct_us_{name}"
    for name in ("min", "mean", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "p99_999", "max", "std")
)

#: Keys that every row of an experiment has, in the order in which they are shown.
ROW_KEYS: dict[str, tuple[str, ...]] = {
    "stress": (
        *_COMMON,
        *("actual_loss_rate", "packets_sent", "packets_delivered"),
        *("effective_loss_rate", "effective_loss_ci95", "effective_link_speed_gbps"),
        *("tx_buffer_kb_min", "tx_buffer_kb_p50", "tx_buffer_kb_max"),
        *("rx_buffer_kb_min", "rx_buffer_kb_p50", "rx_buffer_kb_max"),
        *("retransmissions", "retx_delay_us_p50", "retx_delay_us_max"),
        *("duplicates_dropped", "timeouts", "reordered_packets"),
        *("simulated_seconds", "packets_per_wall_second"),
    ),
    "tcp-fct": (*_COMMON, "congestion_control", "flow_bytes", "trials", *_FCT, "flows_hit", "checks"),
    "rdma-fct": (*_COMMON, "recovery", "flow_bytes", "trials", *_FCT, "flows_hit"),
    "workload": (
        *_COMMON,
        *("protocol", "distribution", "load", "trials", *_FCT),
        *("slowdown_mean", "slowdown_p50", "slowdown_p99", "slowdown_p99_9"),
        *(
            f"{key}_{size}"
            for size in ("to_10kb", "to_100kb", "to_1mb", "above_1mb")
            for key in ("flows", "slowdown_p50", "slowdown_p99", "slowdown_p99_9")
        ),
        *("retransmissions", "timeouts"),
    ),
    "throughput": (
        *_COMMON,
        *(
            "congestion_control",
            "average_throughput_gbps",
            "fairness",
            "retransmissions",
            "timeouts",
            "checks",
        ),
    ),
    "timeline": (
        *_COMMON,
        *("congestion_control", "average_throughput_gbps", "retransmissions", "timeouts"),
        *("protected_at_s", "unprotected_at_s", "protection_changes", "copies", "checks"),
    ),
    "fec": (
        *_COMMON,
        *("traffic_source", "congestion_control", "fec_k", "fec_h", "throughput_gbps", "cwnd_packets_mean"),
        *("latency_us_mean", "latency_us_p50", "latency_us_p99", "latency_us_p99_9", "latency_us_max"),
        *(f"latency_intact_us_{name}" for name in ("mean", "p50", "p99", "max")),
        *(f"latency_recovered_us_{name}" for name in ("mean", "p50", "p99", "max")),
        *("packets_intact", "packets_recovered", "queue_bytes_mean", "queue_bytes_max"),
        *("queue_drops", "queue_drops_data", "queue_drops_parity", "meter_drops", "meter_marks"),
        *("residual_loss_rate", "residual_loss_theory", "checks"),
    ),
    "mathis": (
        *_COMMON,
        *("congestion_control", "mss_bytes", "rtt_ms", "loss_ratio"),
        *("model_mbps", "measured_mbps", "ratio", "realised_loss_ratio"),
        *("rtt_mean_ms", "rtt_min_ms", "loss_events", "checks"),
    ),
}


def in_order(experiment: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with the documented keys first; what a newer simulator adds follows.

    Examples
    --------
    >>> list(in_order("throughput", {"extra": 1, "loss_rate": 0.1, "protection": "lg"}))
    ['protection', 'loss_rate', 'extra']
    """
    known = [key for key in ROW_KEYS.get(experiment, ()) if key in row]
    return {key: row[key] for key in (*known, *(key for key in row if key not in known))}
