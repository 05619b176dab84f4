"""RDMA writes: what a loss costs interfaces that go back to it, or that ask for it alone."""

from __future__ import annotations

from lossylink.declared.column import FCT
from lossylink.declared.experiment import COMMON_ROW, FCT_ROW, PATH_KEYS, RDMA_KEYS, Experiment, Growth

EXPERIMENT = Experiment(
    name="rdma-fct",
    summary="completion times of RDMA writes, one after another",
    own_keys=(
        *(*RDMA_KEYS, "host.profile", "host.nic_rate"),
        *("path.rtt", *PATH_KEYS, "flow.size", "flow.trials"),
    ),
    row_keys=(*COMMON_ROW, "recovery", "flow_bytes", "trials", *FCT_ROW, "flows_hit", "checks"),
    headline=FCT,
    spreads="trials",
    block_trials=100,
    one_after_another=True,
    growth=Growth(key="flow.trials", column="fct_us_p99_9", table="trials", in_blocks=True),
    refused={
        "live": "RDMA is simulated only: the live lab's hosts have no RDMA interface",
    },
)
