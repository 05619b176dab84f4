"""A week of a whole fabric: what its links lose, the paths that are left, the capacity that is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars

from lossylink.charts.chart import Axis, Chart, Guide, Series, Sheet, embedded
from lossylink.charts.distribution import thinned_series
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.samples import Sample, lines_of, with_table

DAY_S = 86_400.0
WEEK_DAYS = 7.0
TIME = Axis("time", "days")
CAPTION = "Each event is a step; the least and the greatest value of each moment are kept."


def sheet(samples: Sequence[Sample]) -> Sheet:
    """Three panels of the week in which the least pod carries the least."""
    found = [one for one in with_table(samples, "events", "time_s") if not one.tables["events"].is_empty()]
    if not found:
        raise CannotDrawError("no run has the events of a fabric; run fabric")
    told = {(line.label, line.slot): one for line in lines_of(found) for one in line.samples}
    return Sheet("fabric", panels(told, first_day=worst_week(found[0].tables["events"])))


def worst_week(events: polars.DataFrame) -> float:
    """Return the day with which the week begins that has the least pod's least capacity in its middle."""
    days = events["time_s"].to_numpy() / DAY_S
    worst = float(days[int(events["capacity_gbps_least"].to_numpy().argmin())])
    first, last = float(days[0]), float(days[-1])
    return min(max(first, worst - WEEK_DAYS / 2), max(first, last - WEEK_DAYS))


def panels(told: Mapping[tuple[str, str], Sample], *, first_day: float) -> tuple[Chart, ...]:
    """Draw a week of samples, given by label and slot, from a day of the trace on.

    The constraint stands in the panel of the paths where all samples have the same.
    """
    constraints = {float(sample.row["constraint_share"]) for sample in told.values()}
    guide = Guide("y", 100 * next(iter(constraints)), "constraint")
    guides = (guide,) if len(constraints) == 1 else ()
    paths = Axis("paths", "%", low=max(0.0, guide.value - 10), high=min(100.0, guide.value + 25))
    specified = (
        ("penalty", "Total penalty", Axis("sum of loss ratios", scale="log"), "effective_penalty", None, ()),
        ("paths", "Least paths of a ToR switch", paths, "paths_least", "paths_per_tor", guides),
        ("capacity", "Least capacity of a pod", Axis("capacity", "%"), "capacity_gbps_least", "pod_gbps", ()),
    )
    days = f"Days {first_day:.1f} to {first_day + WEEK_DAYS:.1f} of the trace. {CAPTION}"
    return tuple(
        Chart(
            f"fabric-{name}",
            title,
            days,
            TIME,
            axis,
            tuple(_steps(key, sample, column, whole, first_day) for key, sample in told.items()),
            lines,
        )
        for name, title, axis, column, whole, lines in specified
    )


def _steps(key: tuple[str, str], sample: Sample, column: str, whole: str | None, first_day: float) -> Series:
    """The steps of a column; ``whole`` is the key of the row that is its 100 %."""
    events = sample.tables["events"]
    days = events["time_s"].to_numpy() / DAY_S - first_day
    values = events[column].to_numpy() * (100.0 / float(sample.row[whole]) if whole else 1.0)
    begin = max(0, int(np.searchsorted(days, 0.0, side="right")) - 1)
    end = max(begin + 1, int(np.searchsorted(days, WEEK_DAYS, side="right")))
    x, y = thinned_series(np.maximum(days[begin:end], 0.0), values[begin:end])
    label, slot = key
    return Series(label, slot, embedded(x), embedded(y), kind="bins")


KIND = Kind(
    name="fabric", place=140, summary="a week of a whole fabric: penalty, paths, capacity", sheet=sheet
)
