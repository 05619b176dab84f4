"""Percentiles of completion times along an axis: a colour a protection, a dash a percentile."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lossylink.charts.chart import Axis, Chart, Series, Sheet, Stroke, embedded, with_never
from lossylink.charts.samples import Line, Sample
from lossylink.declared.experiments import experiment_named
from lossylink.statistics.estimates import Estimate, percentile_interval
from lossylink.statistics.percentiles import LEAST_BEYOND, has_percentile, is_never, tried

PERCENTS = {"p50": 50.0, "p99": 99.0, "p99_9": 99.9}
STROKES: dict[str, Stroke] = {"p50": "dotted", "p99": "dashed", "p99_9": "solid"}
"""Of the lines of a percentile, in the colours of all protections."""

TIME = Axis("flow completion time", "µs", "log")
CAPTION = (
    f"A percentile is drawn where at least {LEAST_BEYOND} flows were slower. Dots: p50, dashes: p99, solid: "
    "p99.9. Bars are 95 % intervals. A bar without an upper end ends at the slowest flow."
)


@dataclass(frozen=True)
class Point:
    """A percentile of some flows, and where it stands on the axis; infinite among flows that never ended."""

    x: float
    key: str
    time_us: Estimate


def sheet_of(identifier: str, title: str, x: Axis, series: Sequence[Series]) -> Sheet:
    """Return the sheet of percentiles along an axis."""
    chart = Chart(identifier, title, with_never(CAPTION, series), x, TIME, tuple(series))
    return Sheet(identifier, (chart,))


def with_times(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples whose rows tell how long their flows took, or that they never ended."""
    return [
        one
        for one in samples
        if tried(one.row) is not None
        and (one.number("fct_us_p50") is not None or is_never("fct_us_p50", one.row))
    ]


def points_of_row(sample: Sample, x: float) -> Iterator[Point]:
    """Yield the percentiles of a row, with the intervals of its flows, or those that a sweep has kept."""
    flows = tried(sample.row) or 0
    block = experiment_named(sample.settings["experiment"]).block_trials
    trials = sample.tables.get("trials")
    times = None
    if trials is not None and "fct_us" in trials.columns:
        times = trials["fct_us"].drop_nulls().to_numpy()
    for key, percent in PERCENTS.items():
        if not has_percentile(flows, percent):
            continue
        if is_never(f"fct_us_{key}", sample.row):
            yield Point(x, key, Estimate.exact(math.inf))
            continue
        value = sample.number(f"fct_us_{key}")
        if value is None:
            continue
        if times is not None and len(times):
            known = percentile_interval(times, percent, block=block)
            slowest = float(times[np.isfinite(times)].max())
            yield Point(x, key, Estimate(value, min(known.low, value), min(known.high, slowest)))
            continue
        kept = sample.row.get(f"fct_us_{key}_ci95")
        if kept is None:
            yield Point(x, key, Estimate.exact(value))
            continue
        low, high = kept
        yield Point(x, key, Estimate(value, low, high or sample.number("fct_us_max") or value))


def series_of(line: Line, points: Iterable[Point]) -> Iterator[Series]:
    """Yield a line of a figure for each percentile that is known."""
    ordered = sorted(points, key=lambda point: point.x)
    for key, percent in PERCENTS.items():
        known = [point for point in ordered if point.key == key]
        drawn = [point for point in known if math.isfinite(point.time_us.value)]
        never = [point.x for point in known if point not in drawn]
        if not known:
            continue
        has_intervals = any(not point.time_us.is_exact for point in drawn)
        yield Series(
            f"{line.label}, p{percent:g}",
            line.slot,
            embedded([point.x for point in drawn]),
            embedded([point.time_us.value for point in drawn]),
            kind="marked",
            stroke=STROKES[key],
            y_low=embedded([point.time_us.low for point in drawn]) if has_intervals else None,
            y_high=embedded([point.time_us.high for point in drawn]) if has_intervals else None,
            never=embedded(never) if never else None,
        )
