"""Many flows at once: two published distributions of sizes, Poisson arrivals, one protected link for all.

A flow's slowdown is its completion time over what it would take alone. None of this was published for
LinkGuardian; it shows the same protections under cross traffic.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lossylink.charts.chart import Chart, Series
from lossylink.charts.distribution import survival_series
from lossylink.charts.kinds.slowdown import CAPTION, SLOWDOWN
from lossylink.charts.palette import name_of, slots_of
from lossylink.charts.survival import survival_chart
from lossylink.declared.experiments import experiment_named
from lossylink.reproduce.framework.comparison import Column, ComparisonTable, Row, cell
from lossylink.reproduce.framework.judging import ROUNDED_BOUND_SLACK, Measure, at_least, at_most, bounded
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import (
    Basis,
    Claim,
    Finished,
    Job,
    Published,
    PublishedExperiment,
    Scale,
)
from lossylink.reproduce.shared.measures import Source
from lossylink.statistics.estimates import Estimate, mean_interval, percentile_ratio

SEARCH = "web search, TCP"
RPC = "RPC, RDMA with DCQCN"
BLOCK = experiment_named("workload").block_trials
"""Flows that share one link."""

SHORT_BYTES = 10_000
"""Largest of the flows that count as short: the smallest class of the row."""

SHORT_PERCENT = 99.95
"""Most short flows are one packet: one loss in a thousand puts their 99.9th percentile at an edge."""

LOAD = 0.3
TRIALS = {SEARCH: 4000, RPC: 20_000}
"""Enough to bound the percentiles from above."""

GROWS = "flow.trials"

FLOWS_A_SECOND = {SEARCH: 2500.0, RPC: 100_000.0}
"""At the least, for one protection."""

SETTINGS: Mapping[str, Mapping[str, str]] = {
    SEARCH: {"flow.distribution": "web-search"},
    RPC: {"flow.distribution": "rpc", "transport.protocol": "rdma", "transport.dcqcn": "on"},
}
PROTECTIONS = ("none", "lg", "lg-nb")
STATISTICS = (
    ("slowdown_mean", "mean slowdown", ""),
    ("slowdown_p50", "50 %", ""),
    ("slowdown_p99", "99 %", ""),
    ("slowdown_p99_9", "99.9 %", ""),
    ("slowdown_p99_to_10kb", "99 %, flows to 10 KB", ""),
    ("slowdown_p99_above_1mb", "99 %, flows above 1 MB", ""),
    ("link_utilisation", "share of the link in use", ""),
    ("queue_bytes_max", "longest queue", "B"),
    ("queue_drops", "frames dropped by queues", ""),
    ("retransmissions", "end-to-end retransmissions", ""),
    ("trials", "flows", ""),
)


def _loss_free(key: str) -> str:
    return f"{key}, no loss"


def _samples(key: str) -> dict[str, Source]:
    return {"loss-free": (_loss_free(key), "none"), **{name: (key, name) for name in PROTECTIONS}}


def jobs(scale: Scale) -> tuple[Job, ...]:
    """Both distributions, under loss and without."""
    found = []
    for key, chosen in SETTINGS.items():
        trials = scale.of(TRIALS[key])
        settings = {**chosen, "flow.load": LOAD, "flow.trials": trials}
        weight = trials / FLOWS_A_SECOND[key]
        loss_free = {**settings, "loss.forward": "0%"}
        found += [
            Job(key, "workload", PROTECTIONS, settings, weight, grows=GROWS),
            Job(_loss_free(key), "workload", ("none",), loss_free, weight, grows=GROWS),
        ]
    return tuple(found)


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """Slowdowns, and what the link saw, for each distribution."""
    return tuple(_table(finished, key) for key in SETTINGS)


def _table(finished: Finished, key: str) -> ComparisonTable:
    samples = _samples(key)
    columns = tuple(Column(name_of(name)) for name in samples)
    rows = tuple(
        Row(label, tuple(cell(finished.number, *source, name) for source in samples.values()), unit, 4)
        for name, label, unit in STATISTICS
    )
    return ComparisonTable(f"{key}: load {LOAD:g}, loss 1e-3 (ours, not published)", columns, rows)


def _slowdowns(finished: Finished, source: Source, *, short: bool = False) -> NDArray[np.float64]:
    """Slowdowns of all flows, or of the short ones."""
    values = finished.column(*source, "trials", "slowdown")
    if not short:
        return values
    chosen = values[finished.column(*source, "trials", "flow_bytes") <= SHORT_BYTES]
    if chosen.size == 0:
        raise NotRunError(f"{source[0]} has no flow of {SHORT_BYTES} B or less")
    return chosen


def _tail_ratio(slower: Source, faster: Source, percent: float, *, short: bool = False) -> Measure:
    """How many times a percentile of the slowdown is that of another sample."""

    def measure(finished: Finished) -> Estimate:
        above, below = (_slowdowns(finished, source, short=short) for source in (slower, faster))
        return percentile_ratio(above, below, percent, block=BLOCK, confidence=finished.confidence)

    return measure


def _mean_ratio(slower: Source, faster: Source) -> Measure:
    """The ratio of the means; the interval is that of both means at their ends, hence on the wide side."""

    def measure(finished: Finished) -> Estimate:
        above, below = (
            mean_interval(_slowdowns(finished, source), block=BLOCK, confidence=finished.confidence)
            for source in (slower, faster)
        )
        if below.low <= 0:
            return Estimate(above.value / below.value, 0.0, float("inf"))
        return Estimate(above.value / below.value, max(0.0, above.low) / below.high, above.high / below.low)

    return measure


def claims(_published: Published) -> tuple[Claim, ...]:
    """What protection does for flows that share the link, and what order costs them."""
    return (*_rpc_claims(), *_search_claims())


def _rpc_claims() -> tuple[Claim, ...]:
    samples = _samples(RPC)
    return tuple(
        Claim(
            f"{RPC}: {name_of(key)} more than halves the 99.95th percentile of short flows",
            bounded(
                _tail_ratio(samples["none"], samples[key], SHORT_PERCENT, short=True),
                at_least(2.0, slack=ROUNDED_BOUND_SLACK),
                unit="x",
            ),
            Basis.PREDICTION,
            "ours",
        )
        for key in ("lg", "lg-nb")
    )


def _search_claims() -> tuple[Claim, ...]:
    samples = _samples(SEARCH)
    return (
        Claim(
            f"{SEARCH}: the slowest flow in a thousand is quicker with LinkGuardian than without protection",
            bounded(_tail_ratio(samples["none"], samples["lg"], 99.9), at_least(1.0), unit="x"),
            Basis.PREDICTION,
            "ours",
        ),
        Claim(
            f"{SEARCH}: with non-blocking the mean slowdown is within a tenth of that without loss",
            bounded(
                _mean_ratio(samples["lg-nb"], samples["loss-free"]),
                at_most(1.1, slack=ROUNDED_BOUND_SLACK),
                unit="x",
            ),
            Basis.PREDICTION,
            "ours",
        ),
        Claim(
            f"{SEARCH}: order costs more than it gives, as a reorder loop pauses the link of 100G",
            bounded(_mean_ratio(samples["lg"], samples["lg-nb"]), at_least(1.0), unit="x"),
            Basis.PREDICTION,
            "ours",
        ),
    )


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """The distribution of slowdowns, one chart a distribution of sizes."""
    titles = ((SEARCH, "workload-search"), (RPC, "workload-rpc"))
    found = (_chart(finished, key, identifier) for key, identifier in titles)
    return tuple(chart for chart in found if chart.series)


def _chart(finished: Finished, key: str, identifier: str) -> Chart:
    samples = _samples(key)
    slots = slots_of(tuple(samples))
    series: list[Series] = []
    for name, source in samples.items():
        try:
            values = _slowdowns(finished, source)
        except NotRunError:
            continue
        series.append(survival_series(name_of(name), slots[name], values, dashed=name == "loss-free"))
    return survival_chart(
        series, identifier=identifier, title=f"Slowdowns, {key}", caption=CAPTION, x=SLOWDOWN
    )


EXPERIMENT = PublishedExperiment(
    name="workload",
    title="Flows that share the link",
    summary="Flows of published size distributions begin at random and share one corrupting 100G link: what "
    "each of them sees, over what it would see alone.",
    source="ours: LinkGuardian under cross traffic; sizes of DCTCP (SIGCOMM 2010) and Homa (SIGCOMM 2018)",
    needs="workload",
    place=90,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    guides=("experiments.md",),
)
