"""Slowdowns of flows that share a link: completion time over what the flow would take alone."""

from __future__ import annotations

from collections.abc import Sequence

from lossylink.charts.chart import Axis, Sheet
from lossylink.charts.distribution import survival_series
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.samples import Sample, lines_of, with_table
from lossylink.charts.survival import survival_chart

SLOWDOWN = Axis("slowdown", "x", "log")
CAPTION = "Share of flows that took at least so many times as long as they would take alone."


def sheet(samples: Sequence[Sample]) -> Sheet:
    """One staircase a sample."""
    found = with_table(samples, "trials", "slowdown")
    if not found:
        raise CannotDrawError("no run has slowdowns; run workload")
    series = [
        survival_series(line.label, line.slot, sample.tables["trials"]["slowdown"].drop_nulls().to_numpy())
        for line in lines_of(found)
        for sample in line.samples
    ]
    chart = survival_chart(
        series, identifier="slowdown", title="Slowdowns of flows", caption=CAPTION, x=SLOWDOWN
    )
    return Sheet("slowdown", (chart,))


KIND = Kind(
    name="slowdown", place=100, summary="distribution of slowdowns of flows that share the link", sheet=sheet
)
