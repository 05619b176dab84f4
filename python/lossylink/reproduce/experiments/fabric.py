"""A whole fabric through a year of failures and repairs, under CorrOpt alone and with LinkGuardian."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lossylink.charts.chart import Axis, Chart, Series, Sheet, embedded
from lossylink.charts.kinds import fabric as week
from lossylink.charts.kinds import fabric_gain as gain
from lossylink.charts.palette import name_of, slots_of
from lossylink.charts.samples import Sample
from lossylink.reproduce.framework.comparison import ComparisonTable, Row, filled
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import (
    Finished,
    Insight,
    Job,
    Published,
    PublishedExperiment,
    Scale,
)
from lossylink.reproduce.framework.quantity import figure
from lossylink.reproduce.shared.declaring import declared
from lossylink.reproduce.shared.measures import Source
from lossylink.reproduce.shared.tables import samples_table
from lossylink.statistics.estimates import Estimate, mean_interval, percentile_interval

CONSTRAINTS = ("50%", "75%")
"""Paths that every ToR switch keeps."""
HALF, MOST = CONSTRAINTS

YEARS, FEW_YEARS = 100, 10
POINTS = {"fabric.points": "linkguardian-100g"}
BARE, OTHERS = "none", ("lg", "lg-nb", "llr", "fec:10/1")
"""CorrOpt alone; and protections whose points the packet simulator finds (ours)."""
SIMULATED = f"{MOST}, points of the packet simulator"
DEPLOYMENTS = (0.25, 0.5, 0.75, 1.0)
FIRST_DAY = 245.5
"""The published week begins here; ours is a week of another year."""
MTTF_H, REPAIR_H = 10_000.0, 0.8 * 48.0 + 0.2 * 96.0
"""Hours, as in ``scenarios/fabric.toml``, which names the sources."""
SKIPPED_SHARE = REPAIR_H / (MTTF_H + REPAIR_H)
"""Failures that meet their link out of service, among all, by renewal theory."""
GAIN, COST = "penalty_gain_p50", "capacity_decrease_share_max"

COUNTS = {
    "failures": "failures of links",
    "failures_skipped": "failures of links out of service",
    "repairs": "repairs",
    "failures_kept": "failures after which the link stays",
}
"""Columns of the table ``years`` that were published for one year at 50 %."""

FIGURES: Mapping[str, Row | str] = {
    "penalty_mean": "mean penalty",
    GAIN: Row("median gain in penalty", unit="x"),
    "penalty_gain_max": Row("greatest gain in penalty", unit="x"),
    "paths_least_share_min": "least paths of a ToR switch, share",
    "capacity_least_share_min": "least capacity of a pod, share",
    COST: "greatest decrease of the least capacity, share of a pod",
    "links_disabled_mean": "links out of service, mean",
    "links_corrupting_mean": "corrupting links in service, mean",
    "protected_ports_per_pipe_max": "most protected ports of a pipe",
}


def _years(constraint: str) -> str:
    return f"{constraint}, many years"


def _one_year(constraint: str) -> str:
    return f"{constraint}, one year"


def _deployed(share: float) -> str:
    return f"{MOST}, {share:.0%} of the pods"


def jobs(scale: Scale) -> tuple[Job, ...]:
    """Both constraints with the published points; then other protections, and partial deployment."""
    found = []
    for constraint in CONSTRAINTS:
        both = {"fabric.constraint": constraint, **POINTS}
        years = scale.of(YEARS, at_least=5)
        found.append(Job(_one_year(constraint), "fabric", (BARE, "lg"), both, 0.5))
        found.append(
            Job(_years(constraint), "fabric", ("lg",), {**both, "fabric.years": years}, 0.06 * years)
        )
    few = {"fabric.constraint": MOST, "fabric.years": scale.of(FEW_YEARS, at_least=5)}
    found.append(Job(SIMULATED, "fabric", (BARE, *OTHERS), few, 6.0))
    found += [
        Job(_deployed(share), "fabric", ("lg",), {**few, **POINTS, "fabric.deployment": share}, 1.0)
        for share in DEPLOYMENTS
    ]
    return tuple(found)


def tables(finished: Finished, published: Published) -> tuple[ComparisonTable, ...]:
    """Events of a year beside the published year, figures of both constraints, and what was not published."""
    reference: Mapping[str, float] = published["linkguardian"]["fabric"]

    return (
        filled(
            f"Events of a year, constraint {HALF}",
            {"": "CorrOpt"},
            COUNTS,
            lambda key, _column: mean_interval(_of_years(finished, HALF, key)).value,
            published=lambda key, _column: reference[key],
            digits=5,
            note="Published is one year of another trace. Ours is the mean of the years.",
        ),
        _table(
            finished,
            "LinkGuardian with the published points of a link",
            {f"constraint {one}": (_years(one), "lg") for one in CONSTRAINTS},
        ),
        _table(
            finished,
            f"Points of the packet simulator, constraint {MOST} (ours, not published)",
            {name_of(name): (SIMULATED, name) for name in (BARE, *OTHERS)},
        ),
        _table(
            finished,
            f"LinkGuardian in a part of the pods, constraint {MOST} (ours, not published)",
            {f"{share:.0%} of the pods": (_deployed(share), "lg") for share in DEPLOYMENTS},
            "Where not all pods are protected, links above the aggregation switches are not, as published.",
        ),
    )


def _table(finished: Finished, title: str, columns: Mapping[str, Source], note: str = "") -> ComparisonTable:
    return samples_table(finished, title, columns, FIGURES, named=str, note=note)


def _of_years(finished: Finished, constraint: str, key: str) -> NDArray[np.float64]:
    return finished.column(_years(constraint), "lg", "years", key)


def deviations(finished: Finished, key: str, published: float) -> float:
    """How many standard deviations of the years a published year lies from their mean."""
    years = _of_years(finished, HALF, key)
    return float(abs(published - years.mean()) / years.std(ddof=1))


def skipped_share(finished: Finished) -> Estimate:
    """Failures that meet their link out of service, among all."""
    skipped = _of_years(finished, HALF, "failures_skipped")
    return mean_interval(skipped / _of_years(finished, HALF, "failures"))


def most_gain(finished: Finished) -> Estimate:
    """The greatest gain of a year, in the median year."""
    return percentile_interval(_of_years(finished, HALF, "penalty_gain_max"), 50.0)


def most_cost(finished: Finished) -> Estimate:
    """The greatest decrease of a year, in the median year."""
    return percentile_interval(_of_years(finished, MOST, COST), 50.0)


def left_at_half(finished: Finished) -> float:
    """The share of the penalty that is left when half of the pods are protected."""
    bare = finished.number(SIMULATED, BARE, "penalty_mean")
    return finished.number(_deployed(0.5), "lg", "penalty_mean") / bare


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """A week at each constraint, both distributions, and the share of the pods that are protected."""
    found = [chart for constraint in CONSTRAINTS for chart in _week(finished, constraint)]
    told = {}
    for constraint, slot in zip(CONSTRAINTS, ("green", "vermillion"), strict=True):
        run = finished.runs.get(_years(constraint))
        if run is not None and "shares" in run.tables:
            told[(f"constraint {constraint}", slot)] = run.tables["shares"]
    return (*found, *(gain.panels(told) if told else ()), *_deployments(finished))


def _week(finished: Finished, constraint: str) -> tuple[Chart, ...]:
    """The published week, at one constraint."""
    slots, job = slots_of((BARE, "lg")), _one_year(constraint)
    told = {}
    for name, label in ((BARE, "CorrOpt"), ("lg", "CorrOpt and LinkGuardian")):
        try:
            row, events = finished.row(job, name), finished.run(job).tables["events"]
        except (NotRunError, KeyError):
            return ()
        part = events.filter(events["protection"] == name)
        told[(label, slots[name])] = Sample(name, {}, row, {"events": part})
    suffix = _suffix(constraint)
    return tuple(
        replace(one, identifier=f"{one.identifier}-{suffix}", title=f"{one.title}, constraint {constraint}")
        for one in week.panels(told, first_day=FIRST_DAY)
    )


def _suffix(constraint: str) -> str:
    return constraint.removesuffix("%")


def _deployments(finished: Finished) -> tuple[Chart, ...]:
    try:
        left = [finished.number(SIMULATED, BARE, "penalty_mean")]
        left += [finished.number(_deployed(share), "lg", "penalty_mean") for share in DEPLOYMENTS]
    except NotRunError:
        return ()
    percent = embedded([0.0, *(100 * share for share in DEPLOYMENTS)])
    series = Series(name_of("lg"), slots_of(("lg",))["lg"], percent, embedded(left), kind="marked")
    return (
        Chart(
            "fabric-deployment",
            f"Mean penalty against deployment, constraint {MOST}",
            "Below 100 % links above the aggregation switches are not protected.",
            Axis("pods with the protection", "%", low=0.0, high=100.0),
            Axis("sum of loss ratios", scale="log"),
            (series,),
        ),
    )


def sheets(_finished: Finished, charts: Sequence[Chart]) -> tuple[Sheet, ...]:
    """The panels of a week above each other, the two distributions side by side."""
    weeks = {f"fabric-week-{_suffix(one)}": f"-{_suffix(one)}" for one in CONSTRAINTS}
    found = [
        (Sheet(name, tuple(chart for chart in charts if chart.identifier.endswith(suffix))))
        for name, suffix in weeks.items()
    ]
    names = {f"fabric-{column.replace('_', '-')}" for column in gain.PANELS}
    found.append(Sheet("fabric-gain", tuple(one for one in charts if one.identifier in names), columns=2))
    found += [Sheet(one.identifier, (one,)) for one in charts if one.identifier == "fabric-deployment"]
    return tuple(sheet for sheet in found if sheet.charts)


def insights(finished: Finished) -> tuple[Insight, ...]:
    """What a protection of the links that have to stay does for a whole fabric."""
    gains = _of_years(finished, MOST, GAIN)
    cost = 100 * most_cost(finished).value
    return (
        Insight(
            50,
            f"{figure(float(gains.mean()), digits=2)} times",
            "So much less do the links of a fabric lose in the median with LinkGuardian, if every ToR switch "
            f"keeps three quarters of its paths. It costs the least pod {cost:.2f} % of its capacity in the "
            "median year, at the most.",
            f"100,224 links, {gains.size} random years, points of a link as published.",
        ),
    )


EXPERIMENT = PublishedExperiment(
    **declared("fabric", globals()), jobs=jobs, tables=tables, charts=charts, sheets=sheets, insights=insights
)
