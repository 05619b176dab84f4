"""Which part of LinkGuardian buys what: retransmission alone, with order, with tail detection, with both.

Every variant is a protection with options; the flows are those of the TCP experiment.
"""

from __future__ import annotations

from lossylink.reproduce.framework.model import Job, Scale
from lossylink.reproduce.shared.single_flows import View, samples_of, single_flow_jobs, single_flows

TRIALS = 40_000
"""Four flows beyond the 99.99th percentile, and forty that lose their last frame."""
VARIANTS = ("none", "lg:order=off,tail=off", "lg:tail=off", "lg:order=off", "lg")


def jobs(scale: Scale) -> tuple[Job, ...]:
    """All variants under loss, and the run without."""
    trials = scale.of(TRIALS)
    weight = trials / 5000.0
    return single_flow_jobs("tcp-fct", {"flow.trials": trials}, weight=weight, protections=VARIANTS)


EXPERIMENT = single_flows(
    "ablation",
    View(
        chart="ablation-times",
        chart_title="Flow completion times, mechanism by mechanism",
        table_title="Flow completion time in us, mechanism by mechanism",
        note="Order off forwards every frame at once; tail off sends no dummies, so that a lost last "
        "frame waits for the end hosts.",
        samples=samples_of(VARIANTS),
    ),
    jobs=jobs,
)
