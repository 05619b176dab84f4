"""Completion times of flows: the share that took at least as long, as far as the sample has a tail."""

from __future__ import annotations

from collections.abc import Sequence

from lossylink.charts.chart import Axis, Sheet
from lossylink.charts.distribution import survival_series
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.samples import Sample, lines_of, with_table
from lossylink.charts.survival import survival_chart

TIME = Axis("flow completion time", "µs", "log")


def sheet(samples: Sequence[Sample]) -> Sheet:
    """One staircase a sample."""
    found = with_table(samples, "trials", "fct_us")
    if not found:
        raise CannotDrawError("no run has completion times; run tcp-fct, rdma-fct or workload")
    series = [
        survival_series(
            line.label,
            line.slot,
            sample.tables["trials"]["fct_us"].drop_nulls().to_numpy(),
        )
        for line in lines_of(found)
        for sample in line.samples
    ]
    chart = survival_chart(
        series,
        identifier="ccdf",
        title="Flow completion times",
        caption="Share of flows that took at least this long.",
        x=TIME,
    )
    return Sheet("ccdf", (chart,))


KIND = Kind(name="ccdf", place=10, summary="distribution of flow completion times", sheet=sheet)
