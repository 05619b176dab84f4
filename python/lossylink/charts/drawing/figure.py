"""A chart, or a sheet of them, as a matplotlib figure: legend outside, so that it covers nothing."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lossylink.charts.chart import Chart, Sheet
from lossylink.charts.drawing.marks import draw_guide, draw_series, joined, key_sample
from lossylink.charts.drawing.scales import draw_top, is_shared, set_scales
from lossylink.charts.drawing.style import RC, RESOLUTION_DPI

COLUMN_INCHES = (5.0, 3.1)
"""Width and height of a figure: a wide column, legible when it is scaled to a narrow one."""

LARGE_INCHES = (7.2, 4.8)
"""Width and height of a chart that shows much."""

PANEL_INCHES = (4.0, 2.9)
"""Width and height of one of two panels side by side."""

NARROW_INCHES = (3.0, 2.6)
"""Width and height of one of three or more panels."""

STACKED_INCHES, PAIR_INCHES = 1.45, 1.9
"""Height of one of several panels above each other that share their x axis, and of one of two."""

LEGEND_ROW_INCHES = 0.19
BAR_INCHES = 0.32
"""Height of a category of bars that lie."""
LETTER_INCHES = 0.062
"""Width of a letter of the legend, on average."""
SAMPLE_INCHES = 0.65
"""Width of a legend's sample and the gap behind its words."""


def draw(chart: Chart) -> Figure:
    """Draw a chart.

    Returns
    -------
    matplotlib.figure.Figure
        Bound to no display: show it in a notebook, or save it.

    Examples
    --------
    >>> from lossylink.charts.chart import Axis, Series
    >>> line = Series("LinkGuardian", "blue", (0.0, 1.0), (2.0, 3.0))
    >>> chart = Chart("speed", "Speed", "", Axis("time", "s"), Axis("speed", "Gb/s"), (line,))
    >>> draw(chart).axes[0].get_ylabel()
    'speed (Gb/s)'
    """
    return draw_sheet(Sheet(chart.identifier, (chart,)))


def draw_sheet(sheet: Sheet) -> Figure:
    """Draw several charts on one sheet, under one legend; axes that are the same are labelled once.

    Raises
    ------
    ValueError
        There is no chart.
    """
    if not sheet.charts:
        raise ValueError(f"{sheet.identifier} has no chart to draw")
    columns = min(sheet.columns, len(sheet.charts))
    rows = math.ceil(len(sheet.charts) / columns)
    with mpl.rc_context(RC):
        width, height = _size_inches(sheet, rows, columns)
        figure = Figure(dpi=RESOLUTION_DPI, layout="constrained")
        grid = figure.subplots(
            rows, columns, squeeze=False,
            sharex=is_shared([chart.x for chart in sheet.charts]),
            sharey=is_shared([chart.y for chart in sheet.charts]),
        )  # fmt: skip
        shown: dict[str, Any] = {}
        for chart, axes in zip(sheet.charts, grid.flat, strict=False):
            for name, sample in _panel(axes, chart, sheet.charts):
                shown[name] = joined(shown[name], sample) if name in shown else sample
        for axes in list(grid.flat)[len(sheet.charts) :]:
            axes.set_axis_off()
        _label_outside(grid)
        legend_rows = _legend(figure, shown, width)
        figure.set_size_inches(width, height + LEGEND_ROW_INCHES * legend_rows)
    return figure


def _size_inches(sheet: Sheet, rows: int, columns: int) -> tuple[float, float]:
    first = sheet.charts[0]
    if len(sheet.charts) == 1:
        if first.y.categories is not None:
            return 7.0, 0.9 + BAR_INCHES * len(first.y.categories)
        return LARGE_INCHES if first.is_large else COLUMN_INCHES
    if columns == 1:
        return COLUMN_INCHES[0], 0.5 + (PAIR_INCHES if rows == 2 else STACKED_INCHES) * rows
    panel_width, panel_height = PANEL_INCHES if columns == 2 else NARROW_INCHES
    return panel_width * columns, panel_height * rows


def _panel(axes: Axes, chart: Chart, charts: Sequence[Chart]) -> list[tuple[str, Any]]:
    """Draw one chart of a sheet; gives the entries of its legend."""
    shown = draw_series(axes, chart)
    set_scales(axes, chart, charts)
    for guide in chart.guides:
        draw_guide(axes, guide)
    has_words_above = any(guide.axis == "x" for guide in chart.guides)
    if chart.top is not None:
        draw_top(axes, chart.top)
    axes.set_title(chart.title, loc="left", pad=14 if has_words_above else 5)
    return [*shown, *((key.label, key_sample(key)) for key in chart.keys)]


def _label_outside(grid: np.ndarray[Any, Any]) -> None:
    """Leave out labels of axes that the panel below, or the one on the left, has as well."""
    for row in range(grid.shape[0]):
        for column in range(grid.shape[1]):
            axes = grid[row, column]
            below = grid[row + 1, column] if row + 1 < grid.shape[0] else None
            if below is not None and below.axison and below.get_xlabel() == axes.get_xlabel():
                axes.set_xlabel("")
            if column and grid[row, 0].get_ylabel() == axes.get_ylabel():
                axes.set_ylabel("")


def _legend(figure: Figure, shown: dict[str, Any], width: float) -> int:
    """Put the names above the plot; gives the rows that they take."""
    letters = int((width - SAMPLE_INCHES) / LETTER_INCHES)
    names = [textwrap.fill(name, letters) for name in shown]
    widest = SAMPLE_INCHES + LETTER_INCHES * max(len(line) for name in names for line in name.splitlines())
    columns = max(1, min(len(shown), int(width / widest)))
    rows = math.ceil(len(shown) / columns)
    columns = math.ceil(len(shown) / rows)
    figure.legend(list(shown.values()), names, loc="outside upper center", ncols=columns)
    return max(rows, sum(name.count("\n") + 1 for name in names) if columns == 1 else 0)
