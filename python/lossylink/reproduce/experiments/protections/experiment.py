"""The comparison as `reproduce` runs it: six links, the map of go-back-N, bursts of the codes of lines."""

from __future__ import annotations

from lossylink.reproduce.experiments.protections import bursts, window
from lossylink.reproduce.experiments.protections import jobs as points
from lossylink.reproduce.experiments.protections.charts import charts, sheets
from lossylink.reproduce.experiments.protections.claims import claims
from lossylink.reproduce.experiments.protections.insights import insights
from lossylink.reproduce.experiments.protections.tables import tables
from lossylink.reproduce.framework.model import Job, PublishedExperiment, Scale
from lossylink.scenario.route import LINK_ROUTE


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The links, the map, then lines whose codes leave bursts."""
    return (*points.jobs(scale), *window.jobs(scale), *bursts.jobs(scale))


EXPERIMENT = PublishedExperiment(
    name="protections",
    title="The protections of a link beside each other",
    summary="No protection, LinkGuardian in both modes, link-level retry and the best block code on links of "
    "100, 400 and 800 Gb/s: what each leaves of the speed and of the losses, what it delays, what it keeps.",
    source="ours; docs/protocols/llr.md for the theory and, as S4, for the bar of 95 % at a loss of 2 %",
    needs="stress",
    place=15,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    sheets=sheets,
    insights=insights,
    route=LINK_ROUTE,
    guides=("planning.md", "rare-events.md"),
    notes=(
        "Nobody published these figures: closed forms and the planner's predictions are what they are held "
        "against. Each protection has the planner's parameters for a residual loss of 1e-8, or its best.",
        f"A point has {points.PACKETS:,} frames at full load. None lost is a residual loss of at most 9.2e-6 "
        "(exact, 95 %); that 1e-8 is met is the closed form's word, which such a run can only contradict.",
        "LinkGuardian was published to 100G. Above, the bytes of its thresholds grow with the rate and its "
        "buffer recirculates at the rate of the link: its ordered mode at 400 and 800G is an extrapolation.",
        "Latency is that of datagrams at a load that the slowest protection carries: 30 % of the line, less "
        "where losses are frequent.",
    ),
)
