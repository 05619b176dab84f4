"""One look for every figure: a paper's column wide, thin lines, colours for any eye and printer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lossylink.protections import look_of
from lossylink.report.palette import LOSS_FREE, OKABE_ITO, slots_of

COLUMN_INCHES = (5.0, 3.1)
"""Width and height of a figure: a wide column, legible when it is scaled to a narrow one."""

RESOLUTION_DPI = 200

RC: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "svg.fonttype": "none",
    "svg.hashsalt": "lossylink",  # the same figure gives the same bytes
    "pdf.fonttype": 42,
}

LOSS_FREE_DASH = (0, (4, 2))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Markers of protections without one of their own, in the order in which they appear."""


@contextmanager
def new_figure(
    *,
    rows: int = 1,
    columns: int = 1,
    size_inches: tuple[float, float] = COLUMN_INCHES,
    share_x: bool = False,
) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure in our look and its axes, row by row; drawing belongs inside the ``with``."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=size_inches, dpi=RESOLUTION_DPI, layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharex=share_x)
        yield figure, [axes for line in grid for axes in line]


def colours_of(protections: tuple[str, ...]) -> dict[str, str]:
    """The colour of each protection of a figure.

    Examples
    --------
    >>> colours_of(("none", "lg"))
    {'none': '#D55E00', 'lg': '#0072B2'}
    """
    return {name: OKABE_ITO[slot] for name, slot in slots_of(protections).items()}


def dash_of(protection: str) -> Any:
    """The line style of a protection, so that a figure also reads in black and white."""
    return LOSS_FREE_DASH if protection == LOSS_FREE else look_of(protection).dash


def markers_of(protections: tuple[str, ...]) -> dict[str, str]:
    """The marker of each protection of a figure.

    Examples
    --------
    >>> markers_of(("none", "fec:25/5", "fec:5/1"))
    {'none': 'o', 'fec:25/5': '^', 'fec:5/1': 'D'}
    """
    own = {name: look_of(name).marker for name in protections}
    free = [marker for marker in MARKERS if marker not in own.values()] or MARKERS
    others = [name for name, marker in own.items() if marker is None]
    further = {name: free[place % len(free)] for place, name in enumerate(others)}
    return {name: own[name] or further[name] for name in protections}
