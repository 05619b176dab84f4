"""Percentiles of completion times against the size of flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lossylink.charts.chart import Axis, Chart, Series, Sheet, embedded
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.samples import Line, Sample, lines_of, with_keys, with_table
from lossylink.percentiles import LEAST_BEYOND, has_percentile
from lossylink.statistics import percentile

PERCENTS = {"p50": 50.0, "p99": 99.0, "p99_9": 99.9}
CLASSES_A_DECADE = 2
"""A workload's flows are put together by size, in so many classes a decade."""

ALONG = ("flow.size", "flow.trials")


def sheet(samples: Sequence[Sample]) -> Sheet:
    """Three lines a protection: half, one in a hundred and one in a thousand flows are slower."""
    workloads = with_table(samples, "trials", "flow_bytes", "fct_us")
    rows = [one for one in with_keys(samples, "flow_bytes", "fct_us_p50", "trials") if one not in workloads]
    lines = [*lines_of(rows, across=ALONG), *lines_of(workloads)]
    series = [one for line in lines for one in _of_line(line)]
    if not lines:
        raise CannotDrawError("no run has flows; run tcp-fct, rdma-fct or workload")
    if not any(len(one.x) > 1 for one in series):
        raise CannotDrawError("all flows have one size; sweep flow.size, as in --grid flow.size=1KB,10KB")
    chart = Chart(
        "fct-size",
        "Completion times against flow size",
        f"A percentile is drawn where at least {LEAST_BEYOND} flows were slower.",
        Axis("flow size", "B", "log"),
        Axis("flow completion time", "µs", "log"),
        tuple(series),
    )
    return Sheet("fct-size", (chart,))


def _of_line(line: Line) -> Iterator[Series]:
    points = sorted(point for sample in line.samples for point in _points(sample))
    for key, percent in PERCENTS.items():
        drawn = [(size, value) for size, name, value in points if name == key]
        if drawn:
            x, y = zip(*drawn, strict=True)
            yield Series(
                f"{line.label}, p{percent:g}", line.slot, embedded(x), embedded(y), kind="marked",
                dashed=key == "p50",
            )  # fmt: skip


def _points(sample: Sample) -> Iterator[tuple[float, str, float]]:
    """Yield size in bytes, percentile and time in microseconds."""
    trials = sample.tables.get("trials")
    if trials is not None and "flow_bytes" in trials.columns:
        told = trials.select("flow_bytes", "fct_us").drop_nulls()
        sizes, times = told["flow_bytes"].to_numpy(), told["fct_us"].to_numpy()
        classes = np.floor(np.log10(sizes) * CLASSES_A_DECADE)
        for one in np.unique(classes):
            chosen = classes == one
            for key, percent in PERCENTS.items():
                if has_percentile(int(chosen.sum()), percent):
                    yield float(np.median(sizes[chosen])), key, percentile(times[chosen], percent)
        return
    for key, percent in PERCENTS.items():
        value, size = sample.number(f"fct_us_{key}"), sample.number("flow_bytes")
        flows = int(sample.number("trials") or 0)
        if value is not None and size is not None and has_percentile(flows, percent):
            yield size, key, value


KIND = Kind(
    name="fct-size", place=60, summary="50th, 99th and 99.9th percentile against flow size", sheet=sheet
)
