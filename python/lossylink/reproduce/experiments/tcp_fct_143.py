"""Flows of a single packet, 143 B: nothing follows a lost one, so that only a timer of the sender repairs it.

No table with loss was published for this size. The hosts are fitted to its completion times without loss.
"""

from __future__ import annotations

from lossylink.charts.chart import Chart
from lossylink.reproduce.framework.comparison import ComparisonTable
from lossylink.reproduce.framework.judging import (
    ROUNDED_BOUND_SLACK,
    Edge,
    at_least,
    between,
    bounded,
)
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
from lossylink.reproduce.shared.single_flows import (
    REQUESTED_LOSS,
    SAMPLES,
    near_loss_free_claim,
    single_flow_jobs,
)
from lossylink.scenario.route import ARTIFACT_ROUTE

TRIALS = 100_000
"""Of which 100 lose their packet, give or take ten."""


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The three protections, and the run without loss."""
    settings = {"flow.size": "143B", "flow.trials": scale.of(TRIALS)}
    weight = scale.of(TRIALS) / 150_000.0
    return single_flow_jobs("tcp-fct", settings, weight=weight)


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """The distribution of each sample."""
    return (
        completion_table(
            finished,
            SAMPLES,
            None,
            title="Flow completion time in us: TCP, DCTCP, 143 B, loss 1e-3",
            marks={},
            note="Predictions, but for the run without loss, to which the hosts are fitted.",
        ),
    )


def claims(_published: Published) -> tuple[Claim, ...]:
    """The published gain at the 99.9th percentile, and the same where it does not lie at an edge."""
    return (
        Claim(
            "99.9th percentile 40 to 70 times shorter with LinkGuardian",
            bounded(
                completion_ratio(SAMPLES["none"], SAMPLES["lg"], 99.9),
                between(40.0, 70.0),
                unit="x",
                edge=Edge(SAMPLES["none"], 99.9, REQUESTED_LOSS),
            ),
            Basis.PREDICTION,
            "143 B flows",
        ),
        *(
            Claim(
                f"99.95th percentile, amid the flows that are hit, at least 40 times shorter with {name}",
                bounded(
                    completion_ratio(SAMPLES["none"], SAMPLES[key], 99.95),
                    at_least(40.0, slack=ROUNDED_BOUND_SLACK),
                    unit="x",
                ),
                Basis.PREDICTION,
                "143 B flows",
            )
            for key, name in (("lg", "LinkGuardian"), ("lg-nb", "LinkGuardian NB"))
        ),
        near_loss_free_claim(Basis.PREDICTION, "143 B flows"),
    )


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """The complementary distribution of all samples."""
    return completion_chart(
        finished, SAMPLES, identifier="tcp-fct-143-times", title="Flow completion times, 143 B"
    )


def insights(finished: Finished) -> tuple[Insight, ...]:
    """What LinkGuardian makes of the tail."""
    return (tail_insight(finished, SAMPLES, "TCP flows of 143 B", rank=60),)


EXPERIMENT = PublishedExperiment(
    name="tcp-fct-143",
    title="Flow completion time over TCP, one packet",
    summary="Flows of a single packet: one that is lost has no successor to give it away, so that the sender "
    "waits for a timer, unless the link notices by itself.",
    source="LinkGuardian (SIGCOMM 2023), single-packet flows",
    needs="tcp-fct",
    place=30,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    insights=insights,
    lead="tcp-fct-143-times",
    route=ARTIFACT_ROUTE,
    guides=("experiments.md",),
)
