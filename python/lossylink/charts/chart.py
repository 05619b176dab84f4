"""A chart as data: axes, series and guides.

A browser draws it by uPlot and ``report/assets/chart.js``, `lossylink.charts.drawing` by matplotlib: nothing
else describes a figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

EMBEDDED_DIGITS = 7
"""Significant digits of embedded values: a flow completion time of 4 s keeps its microsecond."""

Scale = Literal["linear", "log"]
Kind = Literal["line", "marked", "step", "bins", "dots", "points", "bars"]
"""A polyline, one with a marker at each point, a staircase that falls after x, one that holds from x on,
small dots, few markers, or bars, which stand on the axis with ``categories``."""
Stroke = Literal["solid", "dashed", "dotted"]
"""How a line is broken where that tells something by itself; otherwise the colour's slot decides."""
Marker = Literal["circle", "square", "triangle", "diamond", "down", "cross"]
Reading = Literal["x", "percentile", "nearest"]
"""What hovering reads: every series at that x, every series at that percentile, or the nearest point."""


@dataclass(frozen=True)
class Axis:
    """An axis; a unit is shown in the label and in the hover read-out.

    ``categories`` are words at 0, 1, 2 and so on; on the y axis the first is on top. ``ticks`` are the only
    values that have a line and a number; without any they are chosen.
    """

    label: str
    unit: str = ""
    scale: Scale = "linear"
    low: float | None = None
    high: float | None = None
    categories: tuple[str, ...] | None = None
    ticks: tuple[float, ...] | None = None

    @property
    def title(self) -> str:
        """The label with its unit.

        Examples
        --------
        >>> Axis("time", "s").title, Axis("loss rate").title
        ('time (s)', 'loss rate')
        """
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Series:
    """A named line, staircase or set of points; ``colour`` is a slot of the palette.

    A marker that is not given is that of the slot. ``markers`` gives every point its own shape, ``labels``
    its own words in the read-out, ``hollow`` says which are drawn empty. ``base`` is where bars begin, for
    bars on bars. From ``y_low`` to ``y_high`` a point or a bar has an error bar, and a line has a band.
    """

    name: str
    colour: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    kind: Kind = "line"
    marker: Marker | None = None
    markers: tuple[Marker, ...] | None = None
    dashed: bool = False
    stroke: Stroke | None = None
    """How the line is broken, whatever its colour."""
    y_low: tuple[float, ...] | None = None
    y_high: tuple[float, ...] | None = None
    labels: tuple[str, ...] | None = None
    hollow: tuple[bool, ...] | None = None
    base: tuple[float, ...] | None = None
    never: tuple[float, ...] | None = None
    """Arrows at the edge for what never ended: the share that a staircase ends at, or the ``x`` of points and
    bars that have no ``y``."""
    is_labelled: bool = False
    """Whether ``labels`` stand beside the points, too."""
    is_filled: bool = False
    """Whether the area below a line is shaded."""
    is_quiet: bool = False
    """Whether legends leave it out, because another of its sort stands there."""


@dataclass(frozen=True)
class Key:
    """What a shape means, whatever its colour."""

    label: str
    marker: Marker
    hollow: bool = False


@dataclass(frozen=True)
class Guide:
    """A labelled straight line across the plot at one value of one axis."""

    axis: Literal["x", "y"]
    value: float
    label: str


@dataclass(frozen=True)
class TopAxis:
    """Another measure of the x axis, above the plot: its label, and words at values of the x axis."""

    label: str
    ticks: tuple[tuple[float, str], ...]


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
    keys: tuple[Key, ...] = ()
    is_large: bool = False
    """Whether it takes the width of a page on paper, because it shows much."""
    top: TopAxis | None = None

    def to_json(self) -> dict[str, Any]:
        """The chart as the browser reads it; absent options are left out."""
        return {
            "id": self.identifier,
            "title": self.title,
            "x": _set(vars(self.x)),
            "y": _set(vars(self.y)),
            "series": [_series_json(series) for series in self.series],
            "guides": [vars(guide) for guide in self.guides],
            "read": self.read,
            **({"keys": [vars(key) for key in self.keys]} if self.keys else {}),
            **({"top": vars(self.top)} if self.top else {}),
        }


@dataclass(frozen=True)
class Sheet:
    """Charts that are drawn on one sheet of paper, row by row under one legend."""

    identifier: str
    charts: tuple[Chart, ...]
    columns: int = 1


def embedded(values: ArrayLike) -> tuple[float, ...]:
    """Values rounded to the digits that a report embeds.

    Examples
    --------
    >>> embedded([1 / 3, 4139.916])
    (0.3333333, 4139.916)
    """
    array = np.asarray(values, dtype=np.float64)
    return tuple(float(f"{value:.{EMBEDDED_DIGITS}g}") for value in array)


def with_never(caption: str, series: Iterable[Series]) -> str:
    """Return a caption that says what arrows at the edge mean, where a series has any.

    Examples
    --------
    >>> with_never("Flows.", [Series("none", "blue", (), (), never=(0.1,))])
    'Flows. Arrows at the edge: flows that never ended.'
    """
    return (
        f"{caption} Arrows at the edge: flows that never ended."
        if any(one.never for one in series)
        else caption
    )


def points(
    name: str, colour: str, x: Sequence[float], y: Sequence[float], *, marker: Marker | None = None
) -> Series:
    """Markers at given places."""
    return Series(name, colour, embedded(x), embedded(y), kind="points", marker=marker)


def _series_json(series: Series) -> dict[str, Any]:
    return _set(vars(series))


def _set(values: dict[str, Any]) -> dict[str, Any]:
    """Return what is set: a script reads an absent option as no."""
    return {key: value for key, value in values.items() if value is not None and value is not False}
