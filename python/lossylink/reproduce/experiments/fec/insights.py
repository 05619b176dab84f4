"""What a code costs one flow where losses are rare, and what it gives where they are not."""

from __future__ import annotations

from lossylink.charts.palette import name_of
from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.measures import point
from lossylink.reproduce.framework.model import Finished, Insight
from lossylink.reproduce.framework.quantity import figure, power_text

CODE = "fec-model:25/5"
RATE = "throughput_gbps"
MANY_LOSSES = 1e-2


def insights(finished: Finished) -> tuple[Insight, ...]:
    """Throughput with the code and without, at few losses and at many."""
    few = min(loss for loss in jobs.LOSS_RATES if loss > 0)
    bare, coded = (point(finished, few, name, RATE) for name in ("none", CODE))
    lossy, repaired = (point(finished, MANY_LOSSES, name, RATE) for name in ("none", CODE))
    name, change = name_of(CODE), (coded / bare - 1) * 100
    return (
        Insight(
            40,
            f"{'+' if change > 0 else '−'}{figure(abs(change))} %",
            f"{name} changes the rate of one TCP flow from {figure(bare)} to {figure(coded)} Gb/s at a loss "
            f"of {power_text(few)}, and from {figure(lossy)} to {figure(repaired)} Gb/s at "
            f"{power_text(MANY_LOSSES)}.",
            "Means over trials.",
        ),
    )
