"""A column of the table ``series`` over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars
from numpy.typing import NDArray

from lossylink.charts.chart import Axis, Chart, Series, embedded
from lossylink.charts.distribution import thinned_series
from lossylink.charts.samples import Sample, lines_of, with_table

CAPTION = "First trial; each extreme is kept."


def over_time(samples: Sequence[Sample], column: str, title: str, axis: Axis) -> Chart | None:
    """Draw a column over time, one line a sample; nothing where no sample has it."""
    found = with_table(samples, "series", "time_s", column)
    series = [
        Series(line.label, line.slot, *trace(sample.tables["series"], column))
        for line in lines_of(found)
        for sample in line.samples
    ]
    if not series:
        return None
    return Chart(
        f"trace-{column.replace('_', '-')}", title, CAPTION, Axis("time", "s"), axis, tuple(series), wide=True
    )


def trace(table: polars.DataFrame, column: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return time in seconds and a column where it is told, thinned so that every extreme stays."""
    time_s: NDArray[np.float64] = table["time_s"].to_numpy()
    values = table[column].cast(polars.Float64).fill_null(float("nan")).to_numpy()
    told = np.isfinite(values)  # an interval without packets has no latency
    x, y = thinned_series(time_s[told], values[told])
    return embedded(x), embedded(y)
