"""The trade as `reproduce` runs it, and what the low-latency code with a retry saves, up to which errors."""

from __future__ import annotations

from lossylink.reproduce.experiments.trade import measures
from lossylink.reproduce.experiments.trade.charts import charts
from lossylink.reproduce.experiments.trade.designs import KP4, SHORT
from lossylink.reproduce.experiments.trade.jobs import FLOWS, jobs
from lossylink.reproduce.experiments.trade.measures import edge, gain_ns, run_places
from lossylink.reproduce.experiments.trade.tables import tables
from lossylink.reproduce.framework.model import Finished, Insight, PublishedExperiment
from lossylink.reproduce.framework.quantity import figure
from lossylink.reproduce.shared.charts import grids
from lossylink.reproduce.shared.declaring import declared

PERCENT = 99.99


def insights(finished: Finished) -> tuple[Insight, ...]:
    """The gain of the first link with large writes, and its edges."""
    place = max(run_places(finished), key=lambda one: (one.size_bytes, -one.gbps, -one.metres))
    to, then = (edge(design, place.gbps, place.size_bytes, PERCENT) for design in (SHORT, KP4))
    gain = figure(gain_ns(finished, place))
    return (
        Insight(
            33,
            f"{gain} ns",
            "A write takes this much less with the low-latency code and LLR than with KP4 at "
            f"{place.gbps} Gb/s. So does the slowest in ten thousand, up to a bit error ratio of "
            f"{figure(to)}. From there to {figure(then)} the slowest in ten thousand is quicker with KP4.",
            f"Writes of {place.size_bytes:,} B over an idle link. The wait for a codeword follows from the "
            "code. The decoders' time is assumed.",
        ),
    )


EXPERIMENT = PublishedExperiment(
    **declared("trade", vars(measures), flows=f"{FLOWS:,}"),
    jobs=jobs,
    tables=tables,
    charts=charts,
    sheets=grids,
    insights=insights,
)
