"""Flows of a single packet, 143 B: nothing follows a lost one, so that only a timer of the sender repairs it.

No table with loss was published for this size. The hosts are fitted to its completion times without loss.
"""

from __future__ import annotations

from lossylink.reproduce.framework.judging import Edge
from lossylink.reproduce.framework.model import Job, Scale
from lossylink.reproduce.shared.single_flows import (
    REQUESTED_LOSS,
    SAMPLES,
    View,
    single_flow_jobs,
    single_flows,
)

TRIALS = 100_000
"""Of which 100 lose their packet, give or take ten."""
EDGE = Edge(SAMPLES["none"], 99.9, REQUESTED_LOSS)


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The three protections, and the run without loss."""
    settings = {"flow.size": "143B", "flow.trials": scale.of(TRIALS)}
    weight = scale.of(TRIALS) / 150_000.0
    return single_flow_jobs("tcp-fct", settings, weight=weight)


EXPERIMENT = single_flows(
    "tcp-fct-143",
    View(
        chart="tcp-fct-143-times",
        chart_title="Flow completion times, 143 B",
        table_title="Flow completion time in us: TCP, DCTCP, 143 B, loss 1e-3",
        note="Predictions, but for the run without loss, to which the hosts are fitted.",
        samples=SAMPLES,
    ),
    jobs=jobs,
    own={"EDGE": EDGE},
    flows="TCP flows of 143 B",
    rank=60,
)
