"""Percentiles of completion times against the size of flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lossylink.charts.chart import Axis, Sheet
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.kinds._percentiles import (
    PERCENTS,
    Point,
    points_of_row,
    series_of,
    sheet_of,
    with_times,
)
from lossylink.charts.samples import Sample, lines_of, with_keys, with_table
from lossylink.statistics.estimates import Estimate, percentile
from lossylink.statistics.percentiles import has_percentile

CLASSES_A_DECADE = 2
"""A workload's flows are put together by size, in so many classes a decade."""

ALONG = ("flow.size", "flow.trials")


def sheet(samples: Sequence[Sample]) -> Sheet:
    """Three lines a protection: half, one in a hundred and one in a thousand flows are slower."""
    workloads = with_table(samples, "trials", "flow_bytes", "fct_us")
    rows = [one for one in with_times(with_keys(samples, "flow_bytes")) if one not in workloads]
    lines = [*lines_of(rows, across=ALONG), *lines_of(workloads)]
    series = [
        one
        for line in lines
        for one in series_of(line, (point for sample in line.samples for point in _points(sample)))
    ]
    if not lines:
        raise CannotDrawError("no run has flows; run tcp-fct, rdma-fct or workload")
    if not any(len(one.x) + len(one.never or ()) > 1 for one in series):
        raise CannotDrawError("all flows have one size; sweep flow.size, as in --grid flow.size=1KB,10KB")
    return sheet_of("fct-size", "Completion times against flow size", Axis("flow size", "B", "log"), series)


def _points(sample: Sample) -> Iterator[Point]:
    """Yield the percentiles of a size, or of each class of a workload's sizes at its median."""
    trials = sample.tables.get("trials")
    if trials is None or "flow_bytes" not in trials.columns:
        yield from points_of_row(sample, sample.number("flow_bytes") or 0.0)
        return
    told = trials.select("flow_bytes", "fct_us").drop_nulls()
    sizes, times = told["flow_bytes"].to_numpy(), told["fct_us"].to_numpy()
    classes = np.floor(np.log10(sizes) * CLASSES_A_DECADE)
    for one in np.unique(classes):
        chosen = classes == one
        for key, percent in PERCENTS.items():
            if has_percentile(int(chosen.sum()), percent):
                # Flows that share the link wait for each other: ranks alone would claim too much.
                time_us = Estimate.exact(percentile(times[chosen], percent))
                yield Point(float(np.median(sizes[chosen])), key, time_us)


KIND = Kind(
    name="fct-size", place=60, summary="50th, 99th and 99.9th percentile against flow size", sheet=sheet
)
