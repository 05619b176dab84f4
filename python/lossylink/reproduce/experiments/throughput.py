"""LinkGuardian's throughput experiment: one CUBIC flow at 10G for 70 s, of which the middle 60 s count.

How long the hosts' interfaces put off the packets of a long flow is chosen by the throughput without
protection. The other throughputs are predictions.
"""

from __future__ import annotations

from lossylink.charts.chart import Axis, Chart, points
from lossylink.charts.palette import name_of, slots_of
from lossylink.reproduce.framework.comparison import Column, ComparisonTable, Row, cell
from lossylink.reproduce.framework.judging import at_least, between, bounded
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import (
    Basis,
    Claim,
    Finished,
    Insight,
    Job,
    Published,
    PublishedExperiment,
    Scale,
)
from lossylink.reproduce.framework.published import by_protection
from lossylink.reproduce.framework.quantity import figure
from lossylink.reproduce.shared.measures import Source, exact
from lossylink.scenario.route import ARTIFACT_ROUTE

DURATION_MS = 70_000
EDGE_MS = 5_000
"""What is dropped at either end."""

LOSSY_JOB = "loss 1e-3"
LOSS_FREE_JOB = "no loss"
SAMPLES: dict[str, Source] = {
    "loss-free": (LOSS_FREE_JOB, "none"),
    "none": (LOSSY_JOB, "none"),
    "lg": (LOSSY_JOB, "lg"),
    "lg-nb": (LOSSY_JOB, "lg-nb"),
}
RATE = "average_throughput_gbps"


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The three published columns, and the run without loss."""
    edge = f"{scale.of(EDGE_MS)}ms"
    settings = {"run.duration": f"{scale.of(DURATION_MS)}ms", "run.warmup": edge, "run.cooldown": edge}
    weight = 20.0 / scale.divisor  # seconds for a protection, at the floor
    return (
        Job(LOSSY_JOB, "throughput", ("none", "lg", "lg-nb"), settings, weight),
        Job(LOSS_FREE_JOB, "throughput", ("none",), {**settings, "loss.forward": "0%"}, weight),
    )


def tables(finished: Finished, published: Published) -> tuple[ComparisonTable, ...]:
    """The published table beside ours, and what end hosts and link did."""
    reference = by_protection(published["linkguardian"]["throughput"], RATE)
    lines = (
        (RATE, "average throughput", "Gb/s", 3),
        ("retransmissions", "end-to-end retransmissions", "", 4),
    )
    rows = []
    for key, label, unit, digits in (*lines, ("timeouts", "retransmission timeouts", "", 4)):
        cells = tuple(
            cell(finished.number, *source, key, published=reference.get(name) if key == RATE else None)
            for name, source in SAMPLES.items()
        )
        rows.append(Row(label, cells, unit, digits))
    columns = tuple(Column(name_of(name)) for name in SAMPLES)
    note = "Published runs without protection spread from 2.61 to 3.48 Gb/s."
    return (ComparisonTable("Throughput of one CUBIC flow, 10 Gb/s, loss 1e-3", columns, tuple(rows), note),)


def claims(published: Published) -> tuple[Claim, ...]:
    """What the artifact's table says."""
    reference = by_protection(published["linkguardian"]["throughput"], RATE)
    protected = tuple(
        Claim(
            f"{name_of(name)} keeps at least 9.4 Gb/s",
            bounded(
                exact(LOSSY_JOB, name, RATE), at_least(9.4), published=reference[name], unit="Gb/s", digits=4
            ),
            Basis.PREDICTION,
            "Table 3",
        )
        for name in ("lg", "lg-nb")
    )
    return (
        Claim(
            "Without protection one loss in a thousand leaves 2.6 to 3.5 Gb/s",
            bounded(
                exact(LOSSY_JOB, "none", RATE),
                between(2.6, 3.5),
                published=reference["none"],
                unit="Gb/s",
                remark="published runs spread over the whole band",
            ),
            Basis.CALIBRATED,
            "Table 3",
            ("ae-hosts:sustained_moderation_ns",),
        ),
        *protected,
        Claim(
            "Without loss the flow fills the link: 9.44 to 9.54 Gb/s",
            bounded(exact(LOSS_FREE_JOB, "none", RATE), between(9.44, 9.54), unit="Gb/s", digits=4),
            Basis.PREDICTION,
            "Table 3, no loss",
        ),
    )


def charts(finished: Finished, published: Published) -> tuple[Chart, ...]:
    """Every sample on a line of its own, published values beside ours."""
    reference = by_protection(published["linkguardian"]["throughput"], RATE)
    slots = slots_of(tuple(SAMPLES))
    ours: dict[str, float] = {}
    for name, source in SAMPLES.items():
        try:
            ours[name] = finished.number(*source, RATE)
        except NotRunError:
            continue
    if not ours:
        return ()
    names = tuple(ours)
    height = {name: float(place) for place, name in enumerate(names)}
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
            Axis("", categories=tuple(name_of(name) for name in names)),
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
    name="throughput",
    title="Throughput of one flow",
    summary="A single CUBIC flow shrinks at every loss that it sees; a link that repairs its own losses "
    "hides them from it.",
    source="LinkGuardian (SIGCOMM 2023), artifact and Table 3",
    needs="throughput",
    place=60,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    insights=insights,
    route=ARTIFACT_ROUTE,
    guides=("experiments.md",),
)
