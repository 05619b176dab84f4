"""Many flows at once: two published distributions of sizes, Poisson arrivals, one protected link for all.

A flow's slowdown is its completion time over what it would take alone. None of this was published for
LinkGuardian; it shows the same protections under cross traffic.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np
from numpy.typing import NDArray

from lossylink.charts.chart import Chart
from lossylink.charts.kinds.slowdown import CAPTION, SLOWDOWN
from lossylink.charts.survival import survival_chart
from lossylink.declared.experiments import experiment_named
from lossylink.reproduce.framework.comparison import ComparisonTable, Row
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import (
    Finished,
    Job,
    Published,
    PublishedExperiment,
    Scale,
)
from lossylink.reproduce.shared.charts import distributions
from lossylink.reproduce.shared.declaring import declared
from lossylink.reproduce.shared.measures import Source
from lossylink.reproduce.shared.tables import samples_table
from lossylink.statistics.estimates import Estimate, mean_interval, percentile_ratio

SEARCH = "web search, TCP"
RPC = "RPC, RDMA with DCQCN"
BLOCK = experiment_named("workload").block_trials
"""Flows that share one link."""

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
STATISTICS: Mapping[str, Row | str] = {
    "slowdown_mean": "mean slowdown",
    "slowdown_p50": "50 %",
    "slowdown_p99": "99 %",
    "slowdown_p99_9": "99.9 %",
    "slowdown_p99_to_10kb": "99 %, flows to 10 KB",
    "slowdown_p99_above_1mb": "99 %, flows above 1 MB",
    "link_utilisation": "share of the link in use",
    "queue_bytes_max": Row("longest queue", unit="B"),
    "queue_drops": "frames dropped by queues",
    "retransmissions": "end-to-end retransmissions",
    "trials": "flows",
}


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
    return tuple(
        samples_table(
            finished, f"{key}: load {LOAD:g}, loss 1e-3 (ours, not published)", _samples(key), STATISTICS
        )
        for key in SETTINGS
    )


def _slowdowns(finished: Finished, source: Source, largest_bytes: float = inf) -> NDArray[np.float64]:
    """Slowdowns of all flows, or of those up to a size."""
    values = finished.column(*source, "trials", "slowdown")
    if largest_bytes == inf:
        return values
    chosen = values[finished.column(*source, "trials", "flow_bytes") <= largest_bytes]
    if chosen.size == 0:
        raise NotRunError(f"{source[0]} has no flow of {largest_bytes} B or less")
    return chosen


def tail_ratio(
    finished: Finished, slower: Source, faster: Source, percent: float, largest_bytes: float = inf
) -> Estimate:
    """How many times a percentile of the slowdown is that of another sample.

    Most short flows are one packet. One loss in a thousand puts their 99.9th percentile at an edge.
    """
    above, below = (_slowdowns(finished, source, largest_bytes) for source in (slower, faster))
    return percentile_ratio(above, below, percent, block=BLOCK, confidence=finished.confidence)


def mean_ratio(finished: Finished, slower: Source, faster: Source) -> Estimate:
    """The ratio of the means; the interval is that of both means at their ends, hence on the wide side."""
    above, below = (
        mean_interval(_slowdowns(finished, source), block=BLOCK, confidence=finished.confidence)
        for source in (slower, faster)
    )
    if below.low <= 0:
        return Estimate(above.value / below.value, 0.0, inf)
    return Estimate(above.value / below.value, max(0.0, above.low) / below.high, above.high / below.low)


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """The distribution of slowdowns, one chart a distribution of sizes."""
    titles = ((SEARCH, "workload-search"), (RPC, "workload-rpc"))
    found = (_chart(finished, key, identifier) for key, identifier in titles)
    return tuple(chart for chart in found if chart.series)


def _chart(finished: Finished, key: str, identifier: str) -> Chart:
    series = distributions(_samples(key), lambda source: _slowdowns(finished, source))
    return survival_chart(
        series, identifier=identifier, title=f"Slowdowns, {key}", caption=CAPTION, x=SLOWDOWN
    )


EXPERIMENT = PublishedExperiment(**declared("workload", globals()), jobs=jobs, tables=tables, charts=charts)
