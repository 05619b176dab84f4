"""Axes on paper: their scale, their ends and their ticks, as the browser has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis as DrawnAxis
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    FuncFormatter,
    LogLocator,
    NullFormatter,
    NullLocator,
)
from numpy.typing import NDArray

from lossylink.charts.chart import Axis, Chart, Series, TopAxis
from lossylink.charts.drawing.style import LABEL_SIZE

PAD_SHARE = 0.04
"""What an end that is not given leaves beyond the data, as a share of the axis."""

FEW_DECADES = 2.2
"""Up to so many decades 2 and 5 are labelled, too."""

LEAST_PLAIN, MOST_PLAIN = 1e-3, 1e7
"""Numbers between these are written out, others as powers of ten."""


def is_shared(axes: Sequence[Axis]) -> bool:
    """Whether all panels of a sheet have one axis.

    Examples
    --------
    >>> is_shared([Axis("time", "s"), Axis("time", "s")]), is_shared([Axis("time", "s")])
    (True, False)
    """
    return len(axes) > 1 and all(axis == axes[0] for axis in axes)


def set_scales(axes: Axes, chart: Chart, charts: Sequence[Chart]) -> None:
    """Give drawn axes the scales, ends, ticks and labels of a chart, which stands on a sheet with ``charts``.

    An axis that all of them share reaches as far as the values of all.
    """
    for name, drawn, axis in (("x", axes.xaxis, chart.x), ("y", axes.yaxis, chart.y)):
        along = charts if is_shared([getattr(one, name) for one in charts]) else (chart,)
        values = [_values(series, name) for one in along for series in one.series]
        low, high = ends(axis, np.concatenate(values or [np.zeros(0)]))
        if name == "x":
            axes.set(xscale=axis.scale, xlim=(low, high), xlabel=axis.title)
        else:
            axes.set(yscale=axis.scale, ylim=(low, high), ylabel=axis.title)
        _set_ticks(drawn, axis, low, high)
    if chart.y.categories is not None:
        axes.invert_yaxis()


def draw_top(axes: Axes, top: TopAxis) -> None:
    """Draw another measure of the x axis above the plot."""
    second = axes.secondary_xaxis("top")
    second.xaxis.set_major_locator(FixedLocator([place for place, _ in top.ticks]))
    second.xaxis.set_major_formatter(FixedFormatter([word for _, word in top.ticks]))
    second.xaxis.set_minor_locator(NullLocator())
    second.set_xlabel(top.label, fontsize=LABEL_SIZE)
    second.tick_params(labelsize=LABEL_SIZE)


def _values(series: Series, name: str) -> NDArray[np.float64]:
    if name == "x":
        found: Iterable[float] = series.x
    else:
        found = (*series.y, *(series.y_low or ()), *(series.y_high or ()))
    return np.asarray(tuple(found), dtype=np.float64)


def ends(axis: Axis, values: NDArray[np.float64]) -> tuple[float, float]:
    """Return both ends of an axis: those that are given, else just beyond the values that it can show.

    Examples
    --------
    >>> ends(Axis("share", scale="log", high=1.0), np.array([0.0, 0.01, 1.0]))
    (0.0083..., 1.0)
    >>> ends(Axis("loss", categories=("a", "b")), np.array([]))
    (-0.6, 1.6)
    """
    if axis.categories is not None:
        return -0.6, len(axis.categories) - 0.4
    is_log = axis.scale == "log"
    shown = values[np.isfinite(values) & ((values > 0) if is_log else True)]
    if shown.size == 0:
        shown = np.array([1.0])
    flat = np.log10(shown) if is_log else shown
    given = [end for end in (axis.low, axis.high) if end is not None and (end > 0 or not is_log)]
    # What is given counts, too: the pad is a share of the axis, and not of values that lie close together.
    reach = np.concatenate([flat, np.log10(given) if is_log else np.asarray(given)])
    pad = (float(np.ptp(reach)) or 1.0) * PAD_SHARE
    low, high = float(flat.min()) - pad, float(flat.max()) + pad
    if is_log:
        low, high = 10**low, 10**high
    return axis.low if axis.low is not None else low, axis.high if axis.high is not None else high


def _set_ticks(drawn: DrawnAxis, axis: Axis, low: float, high: float) -> None:
    if axis.categories is not None:
        drawn.set_major_locator(FixedLocator(list(range(len(axis.categories)))))
        drawn.set_major_formatter(FuncFormatter(lambda value, _place: _word(axis.categories or (), value)))
        drawn.set_minor_locator(NullLocator())
        drawn.grid(visible=False)
        return
    if axis.ticks is not None:
        drawn.set_major_locator(FixedLocator(list(axis.ticks)))
        drawn.set_major_formatter(FuncFormatter(lambda value, _place: number(value)))
        drawn.set_minor_locator(NullLocator())
        return
    if axis.scale == "linear":
        drawn.set_major_formatter(FuncFormatter(lambda value, _place: number(value)))
        return
    decades = math.log10(high / low)
    steps = (1.0, 2.0, 5.0) if decades < FEW_DECADES else (1.0,)
    is_plain = low >= LEAST_PLAIN and high <= MOST_PLAIN
    drawn.set_major_locator(LogLocator(base=10, subs=steps, numticks=9))
    drawn.set_major_formatter(
        FuncFormatter(lambda value, _place: number(value) if is_plain else power(value))
    )
    drawn.set_minor_locator(LogLocator(base=10, subs=tuple(range(1, 10)), numticks=99))
    drawn.set_minor_formatter(NullFormatter())


def _word(words: tuple[str, ...], value: float) -> str:
    place = round(value)
    return words[place] if 0 <= place < len(words) and abs(place - value) < 1e-9 else ""


def number(value: float) -> str:
    r"""Write a number as ticks have it: plain where it is short, else with a power of ten.

    Examples
    --------
    >>> number(2000.0), number(0.25), number(1e-6), number(2e-6)
    ('2,000', '0.25', '$10^{-6}$', '$2\\times10^{-6}$')
    """
    size = abs(value)
    if size == 0 or LEAST_PLAIN <= size < MOST_PLAIN:
        return f"{value:,.10f}".rstrip("0").rstrip(".")
    return power(value)


def power(value: float) -> str:
    """Write a number that is not 0 with a power of ten.

    Examples
    --------
    >>> power(1.0), power(0.001)
    ('$10^{0}$', '$10^{-3}$')
    """
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    mantissa = f"{value / 10**exponent:.4g}"
    return f"$10^{{{exponent}}}$" if mantissa == "1" else f"${mantissa}\\times10^{{{exponent}}}$"
