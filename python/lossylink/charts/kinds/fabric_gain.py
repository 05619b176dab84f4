"""What a protection gains and costs a fabric: distributions over a year's changes, with bands over years."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from lossylink.charts.chart import Axis, Chart, Series, Sheet, embedded
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.samples import Sample, lines_of, with_table

BAND_PERCENT = (2.5, 97.5)
MOST_POINTS = 400
GAINS = Axis("times less than without protection", scale="log", ticks=(1.0, 1e2, 1e4, 1e6, 1e8))
PANELS = {
    "penalty_gain": ("Gain in total penalty", GAINS, 1.0),
    "capacity_decrease_share": ("Decrease of the least capacity of a pod", Axis("decrease", "%"), 100.0),
}
"""Columns of the table ``shares`` that have a panel: its title, its axis and the factor of its values."""
LAST_SHARE = 0.9975
"""Beyond what so many changes of each year do not exceed, the decrease is not shown."""


def sheet(samples: Sequence[Sample]) -> Sheet:
    """Two distributions, one line a sample; CorrOpt alone, against which others are held, has none."""
    found = [
        one for one in with_table(samples, "shares", "penalty_gain") if one.number("penalty_gain_max") != 1.0
    ]
    if not found:
        raise CannotDrawError("no run has a fabric with a protection; run fabric -p lg")
    told = {(line.label, line.slot): one.tables["shares"] for line in lines_of(found) for one in line.samples}
    return Sheet("fabric-gain", panels(told), columns=2)


def panels(told: Mapping[tuple[str, str], polars.DataFrame]) -> tuple[Chart, ...]:
    """Draw tables of shares, given by label and slot: a chart for the gain, and one for what it costs."""
    years = max((table["year"].n_unique() for table in told.values()), default=0)
    caption = "One value for each change."
    if years > 1:
        caption += f" The line is the mean of {years} years; 95 % of the years lie in the band."
    return tuple(_panel(told, column, caption) for column in PANELS)


def _panel(told: Mapping[tuple[str, str], polars.DataFrame], column: str, caption: str) -> Chart:
    title, axis, factor = PANELS[column]
    lines = tuple(_line(key, table, column, factor) for key, table in told.items())
    share = Axis("share of the changes", low=0.0, high=1.0)
    if column == "capacity_decrease_share":
        # Most changes cost nothing: the axes show those that do.
        shown = [table.filter(polars.col("share") <= LAST_SHARE)[column].max() for table in told.values()]
        most = max(float(value) for value in shown if isinstance(value, float)) * factor
        axis = replace(axis, low=0.0, high=most or None)
        share = replace(share, low=math.floor(20 * min(line.y[0] for line in lines)) / 20)
    return Chart(f"fabric-{column.replace('_', '-')}", title, caption, axis, share, lines)


def _line(key: tuple[str, str], table: polars.DataFrame, column: str, factor: float) -> Series:
    """The share of the changes that do not exceed a value: the mean of the years, and most of the years."""
    years = [
        _rising(part[column].to_numpy() * factor, part["share"].to_numpy())
        for part in table.partition_by("year", maintain_order=True)
    ]
    x = np.unique(np.concatenate([values for values, _ in years]))
    x = x[np.unique(np.linspace(0, x.size - 1, min(x.size, MOST_POINTS)).round().astype(int))]
    shares = np.array([np.interp(x, values, share, left=0.0, right=1.0) for values, share in years])
    low, high = np.percentile(shares, BAND_PERCENT, axis=0)
    band: dict[str, Any] = {"y_low": embedded(low), "y_high": embedded(high)} if len(years) > 1 else {}
    return Series(*key, embedded(x), embedded(shares.mean(axis=0)), **band)


def _rising(
    values: NDArray[np.float64], shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Keep of equal values the last, whose share is that of the changes that do not exceed it."""
    last = np.append(values[1:] != values[:-1], True)
    return values[last], shares[last]


KIND = Kind(
    name="fabric-gain",
    place=150,
    summary="gain and cost of a protection in a fabric, over years",
    sheet=sheet,
)
