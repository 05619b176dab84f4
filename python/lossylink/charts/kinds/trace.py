"""What a flow over forward error correction saw over time: speed, latency and queue."""

from __future__ import annotations

from collections.abc import Sequence

from lossylink.charts.chart import Axis, Sheet
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.kinds._series import over_time
from lossylink.charts.samples import Sample, with_table

PANELS = {
    "throughput_gbps": ("Throughput", Axis("throughput", "Gb/s", low=0.0)),
    "latency_us_ewma": ("Latency, moving average", Axis("latency", "µs", low=0.0)),
    "queue_bytes": ("Queue", Axis("queue", "B", low=0.0)),
}
"""Columns of the table ``series`` that have a panel: its title and its axis."""


def sheet(samples: Sequence[Sample]) -> Sheet:
    """One panel a quantity, one line a sample."""
    if not any(with_table(samples, "series", column) for column in PANELS):
        raise CannotDrawError("no run has a series of latency and queue; run fec")
    charts = (over_time(samples, column, title, axis) for column, (title, axis) in PANELS.items())
    return Sheet("trace", tuple(chart for chart in charts if chart is not None))


KIND = Kind(name="trace", place=70, summary="throughput, latency and queue over time", sheet=sheet)
