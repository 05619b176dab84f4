"""Flows of a data centre: sizes of a distribution, arrivals at random, the link shared between them."""

from __future__ import annotations

from lossylink.declared.column import TIMEOUTS, Column
from lossylink.declared.experiment import COMMON_ROW, FCT_ROW, PATH_KEYS, RDMA_KEYS, TCP_KEYS, Experiment

EXPERIMENT = Experiment(
    name="workload",
    summary="flows of many sizes that begin at random and share the link",
    own_keys=(
        *(*TCP_KEYS, *PATH_KEYS, "transport.protocol", *RDMA_KEYS),
        *("flow.distribution", "flow.load", "flow.trials"),
    ),
    row_keys=(
        *COMMON_ROW,
        *("protocol", "distribution", "load", "trials", *FCT_ROW),
        *("slowdown_mean", "slowdown_p50", "slowdown_p99", "slowdown_p99_9"),
        *(
            f"{key}_{size}"
            for size in ("to_10kb", "to_100kb", "to_1mb", "above_1mb")
            for key in ("flows", "slowdown_p50", "slowdown_p99", "slowdown_p99_9")
        ),
        *("retransmissions", "timeouts", "checks"),
    ),
    headline=(
        Column("fct_us_p50", "FCT p50", "us"),
        Column("fct_us_p99", "FCT p99", "us"),
        Column("slowdown_p50", "slowdown p50", "x"),
        Column("slowdown_p99_9", "p99.9", "x", versus=True),
        Column("slowdown_p99_9_to_10kb", "p99.9 to 10 KB", "x"),
        TIMEOUTS,
    ),
    spreads="trials",
    block_trials=1000,
    refused={
        "live": "flows that arrive at random are simulated only; live, tcp-fct sends one after another",
        "kernel": "flows that arrive at random are simulated only; in a kernel, tcp-fct sends one by one",
    },
)
