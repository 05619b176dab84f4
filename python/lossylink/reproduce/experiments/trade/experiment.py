"""The trade as `reproduce` runs it: two designs, four rates, three lengths, two sizes of writes."""

from __future__ import annotations

from lossylink.reproduce.experiments.trade.charts import charts, sheets
from lossylink.reproduce.experiments.trade.claims import claims
from lossylink.reproduce.experiments.trade.insights import insights
from lossylink.reproduce.experiments.trade.jobs import FLOWS, jobs
from lossylink.reproduce.experiments.trade.tables import tables
from lossylink.reproduce.framework.model import PublishedExperiment

EXPERIMENT = PublishedExperiment(
    name="trade",
    title="The low-latency code with link-level retry in place of KP4",
    summary="Completion times of RDMA writes over lines of 100 to 800 Gb/s and 1 to 500 m, by the bit "
    "errors of the line: RS(272,257) with LLR, and RS(544,514) alone.",
    source="ours; the question is that of IEEE 802 Nendica 1-24-0031-02",
    needs="rdma-fct",
    place=17,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    sheets=sheets,
    insights=insights,
    guides=("experiments.md", "scenarios.md"),
    on_request=True,
    notes=(
        "Nobody published these figures. One write at a time crosses an idle link between hosts and switches "
        "whose delays are fixed, so that a nanosecond shows. Bit errors are independent, forward only.",
        f"A simulated point has {FLOWS:,} writes. A point is simulated where theory expects an event in one "
        "of them. Elsewhere every write takes the time of a clean one.",
        "Both directions have the delay of the code, and so has a retry. Decoders compute 40 ns with the "
        "low-latency code and 60 ns with KP4: these are assumed.",
    ),
)
