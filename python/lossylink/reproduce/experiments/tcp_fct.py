"""LinkGuardian's flow-completion-time experiment over TCP: 5000 DCTCP flows of 24,387 B, one after another.

The hosts are fitted to published completion times without loss, of other sizes too, and to the 99.9th
percentile without protection, which says how many ticks of their timers are missed. All else in the three
columns is a prediction from the 99th percentile on.
"""

from __future__ import annotations

from lossylink._package.published import Published
from lossylink.reproduce.framework.model import Claim, Job, Scale
from lossylink.reproduce.shared.completion import column_claims
from lossylink.reproduce.shared.single_flows import SAMPLES, View, single_flow_jobs, single_flows

TRIALS = 5000
SHAPES = ("ae-hosts:receive_latency", "ae-hosts:moderation_latency")
"""Assumed below the 99th percentile: no median without loss was published."""
FITTED = ("ae-hosts:missed_tick_share",)
"""To the 99.9th percentile without protection."""


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The three published columns, and the run without loss that the claims refer to."""
    trials = scale.of(TRIALS)
    weight = trials / 5000.0  # seconds for a protection, at the floor
    return single_flow_jobs("tcp-fct", {"flow.trials": trials}, weight=weight)


def columns(published: Published) -> tuple[Claim, ...]:
    """Every column of the artifact's table."""
    table = published["linkguardian"]["tcp_fct"]
    calibrated = {("none", "p99_9"): FITTED}
    return column_claims(table, SAMPLES, "artifact's table", shapes=SHAPES, calibrated=calibrated)


EXPERIMENT = single_flows(
    "tcp-fct",
    View(
        chart="tcp-fct-times",
        chart_title="Flow completion times, TCP",
        table_title="Flow completion time in us: TCP, DCTCP, 24,387 B, loss 1e-3",
        note="Predictions from the 99th percentile on, but for the 99.9th without protection: the hosts "
        "are fitted to it and to completion times without loss, and medians rest on assumed shapes. "
        "With 5000 flows, every figure beyond 99.9 % rests on the five slowest.",
        samples=SAMPLES,
        published="tcp_fct",
    ),
    jobs=jobs,
    also=columns,
    flows="TCP flows of 24,387 B",
    rank=10,
)
