"""Buffers of the two switches: samples over time, and the share of samples at or above each level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars

from lossylink.charts.chart import Axis, Chart, Series, Sheet, embedded
from lossylink.charts.distribution import survival_series, thinned_series
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.samples import Sample, lines_of, with_table

SIDES = {"tx_buffer_kb": "Tx", "rx_buffer_kb": "Rx"}


def sheet(samples: Sequence[Sample]) -> Sheet:
    """Time on the left, levels on the right."""
    found = with_table(samples, "series", "time_s", "tx_buffer_kb")
    lines = lines_of(found)
    tables = {(line.label, line.slot): one.tables["series"] for line in lines for one in line.samples}
    charts = buffer_charts(tables, identifier="buffers")
    if not charts:
        raise CannotDrawError("no run has samples of buffers; run stress with lg or lg-nb for 10 ms")
    return Sheet("buffers", charts, columns=2)


def buffer_charts(
    tables: Mapping[tuple[str, str], polars.DataFrame], *, identifier: str
) -> tuple[Chart, ...]:
    """Draw the buffers of series, given by label and slot; a mode without a buffer is left out."""
    over_time: list[Series] = []
    levels: list[Series] = []
    for (label, slot), table in tables.items():
        for column, side in SIDES.items():
            if column not in table.columns:
                continue
            told = table.select("time_s", column).drop_nulls()
            occupancy = told[column].to_numpy()
            if not np.any(occupancy > 0):
                continue
            name, dashed = f"{label}, {side} buffer", side == "Tx"
            x, y = thinned_series(told["time_s"].to_numpy(), occupancy)
            over_time.append(Series(name, slot, embedded(x), embedded(y), kind="dots", dashed=dashed))
            levels.append(survival_series(name, slot, occupancy, dashed=dashed))
    if not over_time:
        return ()
    return (
        Chart(
            f"{identifier}-buffer-time",
            "Buffer occupancy over time",
            "Sampled every 10 ms, as published; a high-water mark between samples is in the table. "
            "Tx buffers are crosses on the left and dashes on the right, Rx buffers dots and solid lines.",
            Axis("time", "s"),
            Axis("buffer", "KB", low=0.0),
            tuple(over_time),
        ),
        Chart(
            f"{identifier}-buffer-levels",
            "Buffer occupancy, distribution",
            "Share of samples at or above a level.",
            Axis("buffer", "KB", low=0.0),
            Axis("share of samples at least as large", "", low=0.0, high=1.0),
            tuple(levels),
            read="percentile",
        ),
    )


KIND = Kind(name="buffers", place=90, summary="Tx and Rx buffers over time and by level", sheet=sheet)
