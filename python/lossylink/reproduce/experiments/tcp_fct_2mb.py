"""Flows of 2 MB, of which three in four meet a loss: what order, and its price, mean to a long flow."""

from __future__ import annotations

from lossylink.reproduce.framework.model import Job, Scale
from lossylink.reproduce.shared.single_flows import SAMPLES, View, single_flow_jobs, single_flows

TRIALS = 5000


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The three protections, and the run without loss."""
    settings = {"flow.size": "2MB", "flow.trials": scale.of(TRIALS)}
    weight = scale.of(TRIALS) / 2500.0
    return single_flow_jobs("tcp-fct", settings, weight=weight)


EXPERIMENT = single_flows(
    "tcp-fct-2mb",
    View(
        chart="tcp-fct-2mb-times",
        chart_title="Flow completion times, 2 MB",
        table_title="Flow completion time in us: TCP, DCTCP, 2 MB, loss 1e-3",
        note="Predictions, but for the run without loss, to which the hosts are fitted.",
        samples=SAMPLES,
    ),
    jobs=jobs,
    flows="TCP flows of 2 MB",
    rank=70,
)
