"""Figures 3 and 4 of the study on paper; `lossylink.charts.kinds.mathis` says what they show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from lossylink.charts.drawing import draw
from lossylink.charts.kinds.mathis import mathis_charts
from lossylink.charts.mathis_curves import PublishedPoint


def figure3(rows: Iterable[Mapping[str, Any]], published: Sequence[PublishedPoint] = ()) -> Figure:
    """Draw measured against modelled bandwidth on log axes.

    Parameters
    ----------
    rows
        Rows of the study, of one protection; at least one.
    published
        Trials that somebody else measured, as black squares.

    Returns
    -------
    matplotlib.figure.Figure
        Not bound to any display; save it or embed it.

    Raises
    ------
    ValueError
        There is no row.
    """
    return draw(mathis_charts(rows, published)[0])


def figure4(rows: Iterable[Mapping[str, Any]], published: Sequence[PublishedPoint] = ()) -> Figure:
    """Draw BW * RTT / MSS, the average window in segments, against the loss ratio on log axes.

    Parameters, returns and raises as `figure3`.
    """
    return draw(mathis_charts(rows, published)[1])
