"""LinkGuardian's flow-completion-time experiment over TCP: 5000 DCTCP flows of 24,387 B, one after another.

The hosts are fitted to published completion times without loss, of other sizes too, and to the 99.9th
percentile without protection, which says how many ticks of their timers are missed. All else in the three
columns is a prediction from the 99th percentile on.
"""

from __future__ import annotations

from lossylink.charts.chart import Chart
from lossylink.reproduce.framework.comparison import ComparisonTable
from lossylink.reproduce.framework.judging import ROUNDED_BOUND_SLACK, at_least, between, bounded
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
from lossylink.reproduce.shared.charts import completion_chart
from lossylink.reproduce.shared.completion import column_claims, completion_table, percentiles_by_protection
from lossylink.reproduce.shared.insights import tail_insight
from lossylink.reproduce.shared.measures import completion_percentile, completion_ratio, exact
from lossylink.reproduce.shared.single_flows import LOSSY_JOB, SAMPLES, near_loss_free_claim, single_flow_jobs
from lossylink.scenario.route import ARTIFACT_ROUTE

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


def tables(finished: Finished, published: Published) -> tuple[ComparisonTable, ...]:
    """The published table beside ours, and our run without loss."""
    reference = published["linkguardian"]["tcp_fct"]
    return (
        completion_table(
            finished,
            SAMPLES,
            reference,
            title="Flow completion time in us: TCP, DCTCP, 24,387 B, loss 1e-3",
            marks={},
            note="Predictions from the 99th percentile on, but for the 99.9th without protection: the hosts "
            "are fitted to it and to completion times without loss, and medians rest on assumed shapes. "
            "With 5000 flows, every figure beyond 99.9 % rests on the five slowest.",
        ),
    )


def claims(published: Published) -> tuple[Claim, ...]:
    """What the artifact's table and Figure 11(a) say of the tail."""
    table = published["linkguardian"]["tcp_fct"]
    return (
        *_tail_claims(table),
        *_body_claims(table),
        *column_claims(
            table, SAMPLES, "artifact's table", shapes=SHAPES, calibrated={("none", "p99_9"): FITTED}
        ),
    )


def _tail_claims(table: Published) -> tuple[Claim, ...]:
    tail = by_protection(table, "p99_9")
    gains = tuple(
        Claim(
            f"99.9th percentile at least 15 times shorter with {name}",
            bounded(
                completion_ratio(SAMPLES["none"], SAMPLES[key], 99.9),
                at_least(15.0, slack=ROUNDED_BOUND_SLACK),
                published=tail["none"] / tail[key],
                unit="x",
            ),
            Basis.CALIBRATED,
            "Figure 11(a)",
            FITTED,
        )
        for key, name in (("lg", "LinkGuardian"), ("lg-nb", "LinkGuardian NB"))
    )
    return (
        *gains,
        Claim(
            "Without protection one flow in a thousand takes 2.3 to 4.3 ms",
            bounded(
                completion_percentile(SAMPLES["none"], 99.9),
                between(2300.0, 4300.0),
                published=tail["none"],
                unit="us",
                digits=4,
            ),
            Basis.CALIBRATED,
            "artifact's table",
            FITTED,
        ),
        near_loss_free_claim(Basis.PREDICTION, "Figure 11(a)"),
    )


def _body_claims(table: Published) -> tuple[Claim, ...]:
    median, shortest = by_protection(table, "p50"), by_protection(table, "min")
    return (
        Claim(
            "Loss does not move the median by more than a tenth",
            bounded(
                completion_ratio(SAMPLES["none"], SAMPLES["lg"], 50.0),
                between(0.9, 1.1),
                published=median["none"] / median["lg"],
                unit="x",
            ),
            Basis.PREDICTION,
            "artifact's table",
        ),
        Claim(
            "The quickest flow takes two round trips and its serialisation, about 62 us",
            bounded(
                exact(LOSSY_JOB, "none", "fct_us_min"),
                between(58.0, 70.0),
                published=shortest["none"],
                unit="us",
            ),
            Basis.ASSUMED,
            "artifact's table",
            ("ae-hosts:receive_latency", "ae-hosts:network_one_way_ns"),
            of_published_amount=True,
        ),
    )


def charts(finished: Finished, published: Published) -> tuple[Chart, ...]:
    """The complementary distribution of all four samples."""
    table = published["linkguardian"]["tcp_fct"]
    return completion_chart(
        finished,
        SAMPLES,
        identifier="tcp-fct-times",
        title="Flow completion times, TCP",
        published=percentiles_by_protection(table),
    )


def insights(finished: Finished) -> tuple[Insight, ...]:
    """What LinkGuardian makes of the tail."""
    return (tail_insight(finished, SAMPLES, "TCP flows of 24,387 B", rank=10),)


EXPERIMENT = PublishedExperiment(
    name="tcp-fct",
    title="Flow completion time over TCP",
    summary="Short DCTCP flows over the artifact's path, one link of which loses one frame in a "
    "thousand: a single lost frame turns 80 us into milliseconds, unless the link repairs it.",
    source="LinkGuardian (SIGCOMM 2023), artifact and Figure 11(a)",
    needs="tcp-fct",
    place=20,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    insights=insights,
    lead="tcp-fct-times",
    route=ARTIFACT_ROUTE,
    guides=("experiments.md",),
)
