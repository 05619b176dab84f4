"""Long flows: what losses and their protection leave of a link's throughput."""

from __future__ import annotations

from lossylink.declared.column import CHECKS, RETRANSMISSIONS, SPEED, TIMEOUTS, Column
from lossylink.declared.experiment import (
    COMMON_ROW,
    LONG_KEYS,
    PATH_KEYS,
    RDMA_KEYS,
    TCP_KEYS,
    Experiment,
)

EXPERIMENT = Experiment(
    name="throughput",
    summary="long flows over the protected link, of TCP or of RDMA writes",
    own_keys=(*TCP_KEYS, *PATH_KEYS, *LONG_KEYS, "transport.protocol", *RDMA_KEYS),
    row_keys=(
        *COMMON_ROW,
        *("congestion_control", "average_throughput_gbps", "average_throughput_gbps_ci95", "fairness"),
        *("retransmissions", "timeouts", "checks"),
    ),
    headline=(SPEED, RETRANSMISSIONS, TIMEOUTS, Column("fairness", "fairness"), CHECKS),
    spreads="jobs",
)
