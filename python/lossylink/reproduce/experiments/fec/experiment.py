"""The experiment as `reproduce` runs it: in full up to 20,500 s of 10G traffic, by default its quick form."""

from __future__ import annotations

from lossylink.reproduce.experiments.fec.charts import charts, sheets
from lossylink.reproduce.experiments.fec.claims import claims
from lossylink.reproduce.experiments.fec.insights import insights
from lossylink.reproduce.experiments.fec.jobs import jobs
from lossylink.reproduce.experiments.fec.tables import tables
from lossylink.reproduce.framework.model import PublishedExperiment

EXPERIMENT = PublishedExperiment(
    name="fec",
    title="Forward error correction",
    summary="One TCP flow over a link that codes h parity packets for every k data packets, against loss "
    "from 1e-6 to 1e-1: what the code saves, what it costs, and what a queue does to both.",
    source="Wharf (NetCompute 2018) and its switch model; 33 statements, numbered in the order of its text",
    needs="fec",
    place=110,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    sheets=sheets,
    insights=insights,
    guides=("fec.md",),
    notes=(
        "Assumed: the hosts' interfaces are as fast as the link (10G), or an unprotected flow would fill the "
        "queue as well, and 41 us could not be the latency of the trials without FEC. The round trip of the "
        "empty path is 82 us, twice those 41 us; what hosts add is unknown. Neither is published.",
    ),
    on_request=True,
)
