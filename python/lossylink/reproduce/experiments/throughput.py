"""LinkGuardian's throughput experiment: one CUBIC flow at 10G for 70 s, of which the middle 60 s count.

How long the hosts' interfaces put off the packets of a long flow is chosen by the throughput without
protection. The other throughputs are predictions.
"""

from __future__ import annotations

from lossylink._package.published import Published, by_protection
from lossylink.charts.chart import Axis, Chart, points
from lossylink.charts.palette import name_of, slots_of
from lossylink.reproduce.framework.comparison import ComparisonTable, Row
from lossylink.reproduce.framework.missing import known
from lossylink.reproduce.framework.model import (
    Finished,
    Insight,
    Job,
    PublishedExperiment,
    Scale,
)
from lossylink.reproduce.framework.quantity import figure
from lossylink.reproduce.shared.declaring import declared
from lossylink.reproduce.shared.single_flows import SAMPLES, single_flow_jobs
from lossylink.reproduce.shared.tables import samples_table
from lossylink.scenario.route import ARTIFACT_ROUTE

DURATION_MS = 70_000
EDGE_MS = 5_000
"""What is dropped at either end."""

RATE = "average_throughput_gbps"


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The three published columns, and the run without loss."""
    edge = f"{scale.of(EDGE_MS)}ms"
    settings = {"run.duration": f"{scale.of(DURATION_MS)}ms", "run.warmup": edge, "run.cooldown": edge}
    weight = 20.0 / scale.divisor  # seconds for a protection, at the floor
    return single_flow_jobs("throughput", settings, weight=weight, grows="")


def tables(finished: Finished, published: Published) -> tuple[ComparisonTable, ...]:
    """The published table beside ours, and what end hosts and link did."""
    reference = by_protection(published["linkguardian"]["throughput"], RATE)
    rows: dict[str, Row | str] = {
        RATE: Row("average throughput", unit="Gb/s", digits=3),
        "retransmissions": "end-to-end retransmissions",
        "timeouts": "retransmission timeouts",
    }
    return (
        samples_table(
            finished,
            "Throughput of one CUBIC flow, 10 Gb/s, loss 1e-3",
            SAMPLES,
            rows,
            published=lambda key, name: reference.get(name) if key == RATE else None,
            note="Published runs without protection spread from 2.61 to 3.48 Gb/s.",
        ),
    )


def charts(finished: Finished, published: Published) -> tuple[Chart, ...]:
    """Every sample on a line of its own, published values beside ours."""
    reference = by_protection(published["linkguardian"]["throughput"], RATE)
    slots = slots_of(tuple(SAMPLES))
    ours = known(SAMPLES, lambda name: finished.number(*SAMPLES[name], RATE))
    if not ours:
        return ()
    height = {name: float(place) for place, name in enumerate(ours)}
    series = [points(name_of(name), slots[name], [rate], [height[name]]) for name, rate in ours.items()]
    series += [
        points(f"{name_of(name)}, published", slots[name], [rate], [height[name]], marker="square")
        for name, rate in reference.items()
        if name in ours
    ]
    return (
        Chart(
            "throughput-rates",
            "Throughput of one CUBIC flow",
            "Circles are ours, squares are published.",
            Axis("average throughput", "Gb/s", low=0.0, high=10.0),
            Axis("", categories=tuple(name_of(name) for name in ours)),
            tuple(series),
            read="nearest",
        ),
    )


def insights(finished: Finished) -> tuple[Insight, ...]:
    """What a flow keeps of the link."""
    bare, protected = (finished.number(*SAMPLES[name], RATE) for name in ("none", "lg"))
    return (
        Insight(
            45,
            f"{figure(protected)} Gb/s",
            "So much has one CUBIC flow with LinkGuardian on a link of 10 Gb/s that loses one frame in a "
            f"thousand; without protection it has {figure(bare)} Gb/s.",
            "One run each.",
        ),
    )


EXPERIMENT = PublishedExperiment(
    **declared("throughput"),
    jobs=jobs,
    tables=tables,
    charts=charts,
    insights=insights,
    route=ARTIFACT_ROUTE,
)
