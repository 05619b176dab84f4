"""Runs as a matplotlib figure, for Python."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from lossylink.charts.drawing.figure import draw_sheet
from lossylink.charts.figures import sheet_of
from lossylink.results.result import Result


def draw_runs(runs: Sequence[tuple[str, Result]], kind: str | None) -> Figure:
    """Draw runs, each given with a name; without a kind the first that they admit."""
    return draw_sheet(sheet_of(runs, kind))
