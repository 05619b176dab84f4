"""The experiment as `reproduce` runs it, up to 20,500 s of 10G traffic; and what a code costs one flow."""

from __future__ import annotations

from lossylink.charts.palette import name_of
from lossylink.reproduce.experiments.fec import latency, structure, throughput, window
from lossylink.reproduce.experiments.fec.charts import charts, sheets
from lossylink.reproduce.experiments.fec.jobs import LOSS_RATES, jobs
from lossylink.reproduce.experiments.fec.measures import point
from lossylink.reproduce.experiments.fec.tables import tables
from lossylink.reproduce.framework.model import Finished, Insight, PublishedExperiment
from lossylink.reproduce.framework.quantity import figure, power_text
from lossylink.reproduce.shared.declaring import declared

CODE = "fec-model:25/5"
RATE = "throughput_gbps"
MANY_LOSSES = 1e-2


def insights(finished: Finished) -> tuple[Insight, ...]:
    """Throughput with the code and without, at few losses and at many."""
    few = min(loss for loss in LOSS_RATES if loss > 0)
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


MEASURES = {
    name: one for module in (structure, throughput, window, latency) for name, one in vars(module).items()
}

EXPERIMENT = PublishedExperiment(
    **declared("fec", MEASURES), jobs=jobs, tables=tables, charts=charts, sheets=sheets, insights=insights
)
