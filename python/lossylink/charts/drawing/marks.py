"""The series of a chart on paper: lines, staircases, dots, markers with intervals, and bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lossylink.charts.chart import Chart, Guide, Key, Series
from lossylink.charts.drawing.style import GREY, INK, LABEL_SIZE, SHAPES, SLOT_LOOKS, colour_of, dash_of

DRAW_STYLES = {"step": "steps-pre", "bins": "steps-post"}
BAR_SHARE = 0.8
"""How much of its place a category's bars take."""
HATCH = "////"
AREA_OPACITY = 0.09
MANY_DOTS = 300
"""More dots than these are drawn small; fewer lie over the others."""
MARKER_POINTS, LARGER_POINTS = 4.5, 3.5
"""Size of a marker, and how much larger each marker is that another one covers."""
LABEL_OFFSET_POINTS = 7
BEYOND = 1e9
"""A line that goes so many times as far as its last point leaves every axis."""


def draw_series(axes: Axes, chart: Chart) -> list[tuple[str, Any]]:
    """Draw every series; gives what a legend shows, by name."""
    shown = []
    bars = [series for series in chart.series if series.kind == "bars"]
    seen: dict[tuple[str, bool], int] = {}
    for series in chart.series:
        if series.kind == "bars":
            shown.append((series.name, _bars(axes, chart, series, bars)))
            continue
        repeat = seen.get((series.colour, series.dashed), 0)
        if series.kind not in {"points", "dots"}:
            seen[series.colour, series.dashed] = repeat + 1
        sample = _one(axes, series, repeat, chart)
        if not series.is_quiet:
            shown.append((series.name, sample))
    return shown


def _one(axes: Axes, series: Series, repeat: int, chart: Chart) -> Any:
    """Draw a series that is no bars; gives its sample."""
    colour = colour_of(series.colour)
    if series.kind == "dots":
        # Thousands of dots are an image inside a vector figure.
        shape = "x" if series.dashed else "."
        many = len(series.x) > MANY_DOTS
        axes.plot(
            series.x, series.y, shape, color=colour, rasterized=True, zorder=2.6 if many else 3.2,
            markersize=2.2 if many else MARKER_POINTS, markeredgewidth=0.5 if many else 1.0,
        )  # fmt: skip
        return Line2D([], [], linestyle="none", marker=shape, color=colour, markersize=4.5)
    look: dict[str, Any] = {"color": colour}
    if series.kind == "points":
        look["linestyle"] = "none"
    else:
        look["linestyle"] = dash_of(series.colour, dashed=series.dashed, repeat=repeat, stroke=series.stroke)
        style = DRAW_STYLES.get(series.kind, "default")
        x, y = _with_tail(series)
        # What holds no losses lies over what does, so that neither hides the other.
        order = 2.4 if series.colour == "black" else 2.0
        axes.plot(x, y, drawstyle=style, zorder=order, **look)
        if series.kind == "line" and series.y_low is not None and series.y_high is not None:
            axes.fill_between(
                series.x, series.y_low, series.y_high, color=colour, alpha=AREA_OPACITY, linewidth=0
            )
        if series.is_filled:
            axes.fill_between(series.x, series.y, 1e-12, color=colour, alpha=AREA_OPACITY, linewidth=0)
    _never(axes, series, colour)
    if series.kind in {"points", "marked"}:
        _markers(axes, series, colour, chart)
        look |= {"marker": _shape(series, 0), "markerfacecolor": _face(series, 0, colour)}
    return Line2D([], [], **look)


def _with_tail(series: Series) -> tuple[Sequence[float], Sequence[float]]:
    """Return the points of a line; a staircase whose values do not all end goes on beyond the edge."""
    if series.kind != "step" or not series.never:
        return series.x, series.y
    first, last = (series.x[0], series.x[-1]) if series.x else (1 / BEYOND, 1.0)
    return (*(series.x or (first,)), last * BEYOND), (*(series.y or (1.0,)), *series.never)


def _never(axes: Axes, series: Series, colour: str, shift: float = 0.0) -> None:
    """Draw an arrow at the edge for what never ended."""
    for at in series.never or ():
        is_step = series.kind == "step"
        place = (1.0, at) if is_step else (at + shift, 1.0)
        axes.plot(
            *place, marker=">" if is_step else "^", color=colour, markersize=MARKER_POINTS, clip_on=False,
            transform=axes.get_yaxis_transform() if is_step else axes.get_xaxis_transform(), zorder=3.5,
        )  # fmt: skip


def _shape(series: Series, place: int) -> str:
    if series.markers is not None:
        return SHAPES[series.markers[place]]
    return SHAPES[series.marker or SLOT_LOOKS[series.colour][1]]


def _face(series: Series, place: int, colour: str) -> str:
    is_hollow = series.hollow[place] if series.hollow is not None else series.kind == "points"
    return "white" if is_hollow else colour


def _covered(series: Series, place: int, chart: Chart) -> int:
    """Return how many later series have a marker at the same place, which would hide this one."""
    later = chart.series[chart.series.index(series) + 1 :]
    here = series.x[place], series.y[place]
    return sum(here in zip(one.x, one.y, strict=True) for one in later if one.kind in {"points", "marked"})


def _markers(axes: Axes, series: Series, colour: str, chart: Chart) -> None:
    if series.y_low is not None and series.y_high is not None:
        values = np.asarray(series.y)
        reach = [values - np.asarray(series.y_low), np.asarray(series.y_high) - values]
        axes.errorbar(
            series.x, values, yerr=np.maximum(reach, 0), fmt="none", ecolor=colour, elinewidth=0.8, capsize=2
        )
    for place, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
        axes.plot(
            [x], [y], marker=_shape(series, place), color=colour, zorder=3, linestyle="none",
            markerfacecolor=_face(series, place, colour),
            markersize=MARKER_POINTS + LARGER_POINTS * _covered(series, place, chart),
        )  # fmt: skip
        if series.is_labelled and series.labels is not None:
            # A hollow point is one that fell short: its words go up and right, the others' down and left.
            is_hollow = _face(series, place, colour) == "white"
            offset = LABEL_OFFSET_POINTS if is_hollow else -LABEL_OFFSET_POINTS
            axes.annotate(
                series.labels[place], (x, y), textcoords="offset points", xytext=(offset, offset * 0.7),
                ha="left" if is_hollow else "right", va="bottom" if is_hollow else "top", fontsize=LABEL_SIZE,
            )  # fmt: skip


def _bars(axes: Axes, chart: Chart, series: Series, bars: list[Series]) -> Any:
    """Draw the bars of one series: beside those of the others, or on them where ``base`` says so."""
    colour = colour_of(series.colour)
    is_hollow = series.hollow is not None and all(series.hollow)
    look: dict[str, Any] = {
        "color": "white" if is_hollow else colour,
        "edgecolor": colour,
        "linewidth": 0.8,
        "hatch": HATCH if is_hollow else None,
    }
    lies = chart.y.categories is not None
    thickness = BAR_SHARE if series.base is not None else BAR_SHARE / len(bars)
    shift = 0.0 if series.base is not None else (bars.index(series) - (len(bars) - 1) / 2) * thickness
    ground = np.asarray(series.base if series.base is not None else 0.0)
    if lies:
        look |= {"linewidth": 0.0} if series.base is not None else {}
        axes.barh(np.asarray(series.y) + shift, series.x, left=ground, height=thickness, **look)
    else:
        axes.bar(np.asarray(series.x) + shift, series.y, bottom=ground, width=thickness, **look)
        if series.y_low is not None and series.y_high is not None:
            low, y, high = (np.asarray(values) for values in (series.y_low, series.y, series.y_high))
            known = high > low  # an interval without an end is not drawn as one without a width
            axes.errorbar(
                (np.asarray(series.x) + shift)[known], y[known], yerr=[(y - low)[known], (high - y)[known]],
                fmt="none", ecolor="black", elinewidth=0.8, capsize=1.5,
            )  # fmt: skip
        _never(axes, series, colour, shift)
    return Patch(facecolor=look["color"], edgecolor=colour, hatch=look["hatch"], linewidth=look["linewidth"])


def draw_guide(axes: Axes, guide: Guide) -> None:
    """Draw a straight line across the plot and its label: above the plot, or at its left end."""
    style: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (2, 2)), "zorder": 1.5}
    words: dict[str, Any] = {"fontsize": LABEL_SIZE, "color": INK, "textcoords": "offset points"}
    if guide.axis == "x":
        axes.axvline(guide.value, **style)
        axes.annotate(
            guide.label, (guide.value, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2), **words
        )
    else:
        axes.axhline(guide.value, **style)
        axes.annotate(
            guide.label, (0.0, guide.value), xycoords=("axes fraction", "data"), xytext=(3, 2), **words
        )


def key_sample(key: Key) -> Line2D:
    """Return the sample of a shape's meaning."""
    face = "white" if key.hollow else INK
    return Line2D([], [], linestyle="none", marker=SHAPES[key.marker], color=INK, markerfacecolor=face)


def joined(one: Any, other: Any) -> Any:
    """Return the sample of a name that stands in two panels: the marker of either, on the line of either.

    Examples
    --------
    >>> dots, steps = Line2D([], [], linestyle="none", marker="x"), Line2D([], [], linestyle="--")
    >>> both = joined(dots, steps)
    >>> both.get_marker(), both.get_linestyle()
    ('x', '--')
    """
    if not (isinstance(one, Line2D) and isinstance(other, Line2D)):
        return one
    has_line = one.get_linestyle() != "None"
    line, marked = (one, other) if has_line else (other, one)
    if line.get_marker() != "None" or marked.get_marker() == "None":
        return line
    both = Line2D([], [])
    both.update_from(line)
    both.set_marker(marked.get_marker())
    both.set_markersize(marked.get_markersize())
    return both
