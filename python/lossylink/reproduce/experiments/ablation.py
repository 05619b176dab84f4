"""Which part of LinkGuardian buys what: retransmission alone, with order, with tail detection, with both.

Every variant is a protection with options; the flows are those of the TCP experiment.
"""

from __future__ import annotations

from collections.abc import Mapping

from lossylink.charts.chart import Chart
from lossylink.reproduce.framework.comparison import ComparisonTable
from lossylink.reproduce.framework.judging import ROUNDED_BOUND_SLACK, at_least, at_most, bounded
from lossylink.reproduce.framework.model import (
    Basis,
    Claim,
    Finished,
    Job,
    Published,
    PublishedExperiment,
    Scale,
)
from lossylink.reproduce.shared.charts import completion_chart
from lossylink.reproduce.shared.completion import completion_table
from lossylink.reproduce.shared.measures import Source, completion_percentile, completion_ratio
from lossylink.reproduce.shared.single_flows import LOSS_FREE_JOB, LOSSY_JOB, single_flow_jobs
from lossylink.scenario.route import ARTIFACT_ROUTE

TRIALS = 40_000
"""Four flows beyond the 99.99th percentile, and forty that lose their last frame."""

RETRANSMISSION = "lg:order=off,tail=off"
WITH_ORDER = "lg:tail=off"
WITH_TAIL = "lg:order=off"
ALL = "lg"
SAMPLES: Mapping[str, Source] = {
    "loss-free": (LOSS_FREE_JOB, "none"),
    **{name: (LOSSY_JOB, name) for name in ("none", RETRANSMISSION, WITH_ORDER, WITH_TAIL, ALL)},
}


def jobs(scale: Scale) -> tuple[Job, ...]:
    """All variants under loss, and the run without."""
    trials = scale.of(TRIALS)
    variants = ("none", RETRANSMISSION, WITH_ORDER, WITH_TAIL, ALL)
    weight = trials / 5000.0
    return single_flow_jobs("tcp-fct", {"flow.trials": trials}, weight=weight, protections=variants)


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """One column a variant."""
    return (
        completion_table(
            finished,
            SAMPLES,
            None,
            title="Flow completion time in us, mechanism by mechanism",
            marks={},
            note="Order off forwards every frame at once; tail off sends no dummies, so that a lost last "
            "frame waits for the end hosts.",
        ),
    )


def claims(_published: Published) -> tuple[Claim, ...]:
    """The order that the mechanisms imply, at the 99.99th percentile."""
    tails = tuple(
        Claim(
            f"Without tail detection the tail stays in the milliseconds ({text})",
            bounded(completion_percentile(SAMPLES[variant], 99.99), at_least(1000.0), unit="us", digits=4),
            Basis.PREDICTION,
            "ours, 99.99th percentile",
        )
        for variant, text in ((RETRANSMISSION, "retransmission alone"), (WITH_ORDER, "with order"))
    )
    return (
        *tails,
        Claim(
            "Tail detection shortens the 99.99th percentile at least fivefold",
            bounded(
                completion_ratio(SAMPLES[RETRANSMISSION], SAMPLES[WITH_TAIL], 99.99),
                at_least(5.0, slack=ROUNDED_BOUND_SLACK),
                unit="x",
            ),
            Basis.PREDICTION,
            "ours, 99.99th percentile",
        ),
        Claim(
            "Order on top of it does not lengthen it",
            bounded(
                completion_ratio(SAMPLES[ALL], SAMPLES[WITH_TAIL], 99.99),
                at_most(1.0, slack=ROUNDED_BOUND_SLACK),
                unit="x",
            ),
            Basis.PREDICTION,
            "ours, 99.99th percentile",
        ),
    )


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """The distribution of every variant."""
    return completion_chart(
        finished, SAMPLES, identifier="ablation-times", title="Flow completion times, mechanism by mechanism"
    )


EXPERIMENT = PublishedExperiment(
    name="ablation",
    title="Ablation of LinkGuardian",
    summary="The flow-completion-time experiment with one mechanism after another: what retransmission, "
    "order and tail detection each contribute.",
    source="LinkGuardian (SIGCOMM 2023), the mechanisms evaluated apart",
    needs="tcp-fct",
    place=70,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    lead="ablation-times",
    route=ARTIFACT_ROUTE,
    guides=("experiments.md",),
)
