"""The comparison as `reproduce` runs it: links, the map of go-back-N, bursts; and what a code costs."""

from __future__ import annotations

from lossylink.charts.palette import name_of
from lossylink.reproduce.experiments.protections import bursts, totals, window
from lossylink.reproduce.experiments.protections import jobs as points
from lossylink.reproduce.experiments.protections.charts import charts, sheets
from lossylink.reproduce.experiments.protections.jobs import LOSS_RATES, WORDS, Place, chosen
from lossylink.reproduce.experiments.protections.measures import losses_run, speed_gbps
from lossylink.reproduce.experiments.protections.tables import tables
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Insight, Job, PublishedExperiment, Scale
from lossylink.reproduce.framework.quantity import figure, power_text
from lossylink.reproduce.shared.declaring import declared
from lossylink.scenario.route import LINK_ROUTE

PLACE = Place(400, 100)
MOST_LOSS = 1e-3
"""Loss up to which links are kept in use."""
PROTECTED = tuple(word for word in WORDS if word != "none")


def insights(finished: Finished) -> tuple[Insight, ...]:
    """Share of the line that each protection takes, at the highest loss run of all up to `MOST_LOSS`."""
    run = [set(losses_run(finished, PLACE, word)) for word in PROTECTED]
    losses = [loss for loss in LOSS_RATES if loss <= MOST_LOSS and all(loss in found for found in run)]
    if not losses:
        raise NotRunError(f"no loss up to {MOST_LOSS:g} was run on {PLACE.name}")
    loss = max(losses)
    taken = {word: (1 - speed_gbps(finished, PLACE, loss, word) / PLACE.gbps) * 100 for word in PROTECTED}
    code = name_of(chosen(PLACE, loss)["fec"])
    others = ", ".join(f"{name_of(word)} {figure(taken[word])} %" for word in PROTECTED if word != "fec")
    return (
        Insight(
            30,
            f"{figure(taken['fec'])} % of the line",
            f"So much is gone with {code} at {PLACE.gbps} Gb/s over {PLACE.metres} m and a loss of "
            f"{power_text(loss)}. Of the others: {others}.",
            "Full frames; the rest of the line is what they get. Parameters for a residual loss of 1e-8.",
        ),
    )


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The links, the map, then lines whose codes leave bursts."""
    return (*points.jobs(scale), *window.jobs(scale), *bursts.jobs(scale))


EXPERIMENT = PublishedExperiment(
    **declared(
        "protections",
        {**vars(totals), **vars(window), **vars(bursts)},
        packets=f"{points.PACKETS:,}",
    ),
    jobs=jobs,
    tables=tables,
    charts=charts,
    sheets=sheets,
    insights=insights,
    route=LINK_ROUTE,
)
