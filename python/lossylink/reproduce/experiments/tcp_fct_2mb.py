"""Flows of 2 MB, of which three in four meet a loss: what order, and its price, mean to a long flow."""

from __future__ import annotations

from lossylink.charts.chart import Chart
from lossylink.reproduce.framework.comparison import ComparisonTable
from lossylink.reproduce.framework.judging import ROUNDED_BOUND_SLACK, at_least, at_most, bounded
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
from lossylink.reproduce.shared.charts import completion_chart
from lossylink.reproduce.shared.completion import completion_table
from lossylink.reproduce.shared.insights import tail_insight
from lossylink.reproduce.shared.measures import completion_ratio
from lossylink.reproduce.shared.single_flows import SAMPLES, single_flow_jobs
from lossylink.scenario.route import ARTIFACT_ROUTE

TRIALS = 5000


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The three protections, and the run without loss."""
    settings = {"flow.size": "2MB", "flow.trials": scale.of(TRIALS)}
    weight = scale.of(TRIALS) / 2500.0
    return single_flow_jobs("tcp-fct", settings, weight=weight)


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """The distribution of each sample."""
    return (
        completion_table(
            finished,
            SAMPLES,
            None,
            title="Flow completion time in us: TCP, DCTCP, 2 MB, loss 1e-3",
            marks={},
            note="Predictions, but for the run without loss, to which the hosts are fitted.",
        ),
    )


def claims(_published: Published) -> tuple[Claim, ...]:
    """With order a flow notices nothing; without it the reordering reads as loss."""
    return (
        Claim(
            "Ordered LinkGuardian equals a link without loss within 3 % at the 99.9th percentile",
            bounded(
                completion_ratio(SAMPLES["lg"], SAMPLES["loss-free"], 99.9),
                at_most(1.03),
                unit="x",
                digits=4,
            ),
            Basis.PREDICTION,
            "2 MB flows",
        ),
        Claim(
            "Non-blocking is clearly worse: half as long again or more at the 99.9th percentile",
            bounded(
                completion_ratio(SAMPLES["lg-nb"], SAMPLES["lg"], 99.9),
                at_least(1.5, slack=ROUNDED_BOUND_SLACK),
                unit="x",
                remark="a packet that comes late reads as a loss",
            ),
            Basis.PREDICTION,
            "2 MB flows",
        ),
        Claim(
            "99.9th percentile at least twice as short with LinkGuardian as without protection",
            bounded(
                completion_ratio(SAMPLES["none"], SAMPLES["lg"], 99.9),
                at_least(2.0, slack=ROUNDED_BOUND_SLACK),
                unit="x",
            ),
            Basis.PREDICTION,
            "2 MB flows",
        ),
    )


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """The complementary distribution of all samples."""
    return completion_chart(
        finished, SAMPLES, identifier="tcp-fct-2mb-times", title="Flow completion times, 2 MB"
    )


def insights(finished: Finished) -> tuple[Insight, ...]:
    """What LinkGuardian makes of the tail."""
    return (tail_insight(finished, SAMPLES, "TCP flows of 2 MB", rank=70),)


EXPERIMENT = PublishedExperiment(
    name="tcp-fct-2mb",
    title="Flow completion time over TCP, 2 MB",
    summary="Flows of 1370 packets, three in four of which meet a loss: a link that repairs in order hides "
    "all of them, one that lets repairs overtake makes the sender slow down.",
    source="LinkGuardian (SIGCOMM 2023), long flows",
    needs="tcp-fct",
    place=40,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    insights=insights,
    lead="tcp-fct-2mb-times",
    route=ARTIFACT_ROUTE,
    guides=("experiments.md",),
)
