"""Short TCP flows: what a loss costs a flow that is over before its congestion control matters."""

from __future__ import annotations

from lossylink.declared.column import CHECKS, FCT
from lossylink.declared.experiment import COMMON_ROW, FCT_ROW, PATH_KEYS, TCP_KEYS, Experiment, Growth

EXPERIMENT = Experiment(
    name="tcp-fct",
    summary="completion times of short TCP flows, one after another",
    own_keys=(*TCP_KEYS, *PATH_KEYS, "flow.size", "flow.trials"),
    row_keys=(*COMMON_ROW, "congestion_control", "flow_bytes", "trials", *FCT_ROW, "flows_hit", "checks"),
    headline=(*FCT, CHECKS),
    spreads="trials",
    block_trials=100,
    one_after_another=True,
    growth=Growth(key="flow.trials", column="fct_us_p99_9", table="trials", in_blocks=True),
)
