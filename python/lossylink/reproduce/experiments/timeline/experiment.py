"""DCTCP flows while their link of 25G starts to corrupt and LinkGuardian is switched on under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars

from lossylink.charts.chart import Chart, Guide, Sheet
from lossylink.charts.kinds.timeline import panels
from lossylink.charts.palette import name_of, slots_of
from lossylink.reproduce.experiments.timeline import runs
from lossylink.reproduce.experiments.timeline.runs import (
    FASTER_JOB,
    JOB,
    PANELS,
    PHASES,
    PROTECTIONS,
    jobs,
    moments_s,
    phase_mean,
)
from lossylink.reproduce.framework.comparison import Column, ComparisonTable, filled
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Published, PublishedExperiment
from lossylink.reproduce.shared.declaring import declared
from lossylink.scenario.route import ARTIFACT_ROUTE


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """Means of every column, phase by phase, at both rates."""
    return _table(finished, JOB), _table(finished, FASTER_JOB)


def _table(finished: Finished, job: str) -> ComparisonTable:
    return filled(
        f"{job}: means of each phase, first bin left out (ours)",
        {
            column: Column(f"{label}, {unit}" if unit else label, short=short)
            for column, (label, unit, short) in PANELS.items()
        },
        {(name, phase): f"{name_of(name)}, {phase}" for name in PROTECTIONS for phase in PHASES},
        lambda at, column: phase_mean(finished, *at, column, job),
        digits=3,
    )


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """One chart a column at the published rate, then at twice that."""
    return (*_of_rate(finished, JOB), *_of_rate(finished, FASTER_JOB))


def _of_rate(finished: Finished, job: str) -> tuple[Chart, ...]:
    try:
        table = finished.run(job).tables["timeline"]
        corruption, switched_on, _ = moments_s(finished, job)
    except (NotRunError, KeyError):
        return ()
    parts = {name: table.filter(polars.col("protection") == name) for name in PROTECTIONS}
    there = {name: part for name, part in parts.items() if not part.is_empty()}
    slots = slots_of(PROTECTIONS)
    guides = (Guide("x", corruption, "loss starts"), Guide("x", switched_on, "protection on"))
    drawn = panels({(name_of(name), slots[name]): part for name, part in there.items()}, guides)
    rate = _rate(job)
    return tuple(
        replace(chart, identifier=f"{chart.identifier}-{rate.lower()}", title=f"{chart.title}, {rate}")
        for chart in drawn
    )


def _rate(job: str) -> str:
    return job.partition(",")[0]


def sheets(_finished: Finished, charts: Sequence[Chart]) -> tuple[Sheet, ...]:
    """All panels of a rate above each other."""
    of_rates = [
        (rate, tuple(chart for chart in charts if chart.identifier.endswith(f"-{rate}")))
        for rate in (_rate(JOB).lower(), _rate(FASTER_JOB).lower())
    ]
    return tuple(Sheet(f"timeline-panels-{rate}", panes) for rate, panes in of_rates if panes)


EXPERIMENT = PublishedExperiment(
    **declared("timeline", vars(runs)),
    jobs=jobs,
    tables=tables,
    charts=charts,
    sheets=sheets,
    route=ARTIFACT_ROUTE,
)
