"""The cliff as `reproduce` runs it: four codes, four protections, three kinds of traffic."""

from __future__ import annotations

from lossylink.reproduce.experiments.cliff.charts import charts, sheets
from lossylink.reproduce.experiments.cliff.claims import claims
from lossylink.reproduce.experiments.cliff.insights import insights
from lossylink.reproduce.experiments.cliff.jobs import FLOWS, PACKETS, jobs
from lossylink.reproduce.experiments.cliff.tables import tables
from lossylink.reproduce.framework.model import PublishedExperiment
from lossylink.reproduce.framework.quantity import count_of

EXPERIMENT = PublishedExperiment(
    name="cliff",
    title="The cliff of a line's own code",
    summary="Completion times of TCP and RDMA, speed and residual loss against the bit errors of a line, "
    "behind KP4, KR4, the low-latency code and no code, without protection and with three.",
    source="ours; lossylink.theory.phy for the losses",
    needs="stress",
    place=16,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    sheets=sheets,
    insights=insights,
    guides=("experiments.md", "scenarios.md"),
    on_request=True,
    notes=(
        "Nobody published these figures. Bit error ratios are those at which theory says that 1e-8, "
        "1e-7, ... 1e-2 of full frames are lost. Bit errors are independent.",
        f"A point has {FLOWS:,} flows of 24,387 B each, and {count_of(PACKETS)} full frames at full load.",
    ),
)
