"""A chart as data: axes, series and guides, drawn in the browser by ``assets/chart.js``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

EMBEDDED_DIGITS = 7
"""Significant digits of embedded values: a flow completion time of 4 s keeps its microsecond."""

Scale = Literal["linear", "log"]
Kind = Literal["line", "step", "bins", "dots", "points"]
"""A polyline, a staircase that falls after x, one that holds from x on, small dots, or few markers."""
Marker = Literal["circle", "square", "triangle", "diamond"]
Reading = Literal["x", "percentile", "nearest"]
"""What hovering reads: every series at that x, every series at that percentile, or the nearest point."""


@dataclass(frozen=True)
class Axis:
    """An axis; a unit is shown in the label and in the hover read-out.

    ``names`` stand at 0, 1, 2, ... of a linear y axis in place of figures, inside the plot.
    """

    label: str
    unit: str = ""
    scale: Scale = "linear"
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Series:
    """A named line, staircase or set of points; ``colour`` is a slot of the palette.

    ``markers`` gives every point its own shape, ``labels`` its own words in the read-out.
    """

    name: str
    colour: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    kind: Kind = "line"
    marker: Marker = "circle"
    markers: tuple[Marker, ...] | None = None
    dashed: bool = False
    y_low: tuple[float, ...] | None = None
    y_high: tuple[float, ...] | None = None
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Guide:
    """A labelled straight line across the plot at one value of one axis."""

    axis: Literal["x", "y"]
    value: float
    label: str


@dataclass(frozen=True)
class Chart:
    """A figure with its caption; ``identifier`` is unique in a report and names the saved files."""

    identifier: str
    title: str
    caption: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    guides: tuple[Guide, ...] = ()
    read: Reading = "x"
    wide: bool = False

    def to_json(self) -> dict[str, Any]:
        """The chart as the browser reads it; absent options are left out."""
        return {
            "id": self.identifier,
            "title": self.title,
            "x": _without_none(vars(self.x)),
            "y": _without_none(vars(self.y)),
            "series": [_series_json(series) for series in self.series],
            "guides": [vars(guide) for guide in self.guides],
            "read": self.read,
        }


def embedded(values: ArrayLike) -> tuple[float, ...]:
    """Values rounded to the digits that a report embeds.

    Examples
    --------
    >>> embedded([1 / 3, 4139.916])
    (0.3333333, 4139.916)
    """
    array = np.asarray(values, dtype=np.float64)
    return tuple(float(f"{value:.{EMBEDDED_DIGITS}g}") for value in array)


def points(
    name: str, colour: str, x: Sequence[float], y: Sequence[float], *, marker: Marker = "circle"
) -> Series:
    """Markers at given places."""
    return Series(name, colour, embedded(x), embedded(y), kind="points", marker=marker)


def _series_json(series: Series) -> dict[str, Any]:
    return _without_none(vars(series))


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
