"""The cliff as `reproduce` runs it, four codes under three kinds of traffic, and how far a retry moves it."""

from __future__ import annotations

from lossylink.reproduce.experiments.cliff import measures
from lossylink.reproduce.experiments.cliff.charts import charts
from lossylink.reproduce.experiments.cliff.jobs import FLOWS, KP4, LINES, LOSS_RATES, PACKETS, TCP, bits, jobs
from lossylink.reproduce.experiments.cliff.measures import EDGE, edge_bits
from lossylink.reproduce.experiments.cliff.tables import tables
from lossylink.reproduce.framework.model import Finished, Insight, PublishedExperiment
from lossylink.reproduce.framework.quantity import count_of, figure
from lossylink.reproduce.shared.charts import grids
from lossylink.reproduce.shared.declaring import declared

UNCODED = LINES[0]


def insights(finished: Finished) -> tuple[Insight, ...]:
    """The bit error ratios up to which the tail of TCP stays, without a retry and with it, behind KP4."""
    bare, kept = (edge_bits(finished, TCP, KP4, protection) for protection in ("none", "llr"))
    open_bare, open_kept = (edge_bits(finished, TCP, UNCODED, protection) for protection in ("none", "llr"))
    last = " or more" if kept == bits(KP4, LOSS_RATES[-1]) else ""
    return (
        Insight(
            32,
            f"{figure(kept / bare)}x the bit errors{last}",
            f"So far LLR moves the edge of TCP's 99.9th percentile behind KP4, from {figure(bare)} to "
            f"{figure(kept)} bit errors a bit. Without a code of the line it is "
            f"{figure(open_kept / open_bare)} times.",
            f"The edge is the last point of the grid at which the percentile is within {EDGE:g} times that "
            "of the least bit error ratio. Points lie a factor of ten in frame losses apart.",
        ),
    )


EXPERIMENT = PublishedExperiment(
    **declared("cliff", vars(measures), flows=f"{FLOWS:,}", packets=count_of(PACKETS)),
    jobs=jobs,
    tables=tables,
    charts=charts,
    sheets=grids,
    insights=insights,
)
