"""One look for every figure: thin lines, colours for any eye, dashes and shapes for any printer."""

from __future__ import annotations

from typing import Any

from lossylink.charts.chart import Marker, Stroke
from lossylink.charts.palette import OKABE_ITO

RESOLUTION_DPI = 200

RC: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.handlelength": 3.0,  # a sample shorter than its dashes does not tell them apart
    "xtick.direction": "out",
    "ytick.direction": "out",
    "svg.fonttype": "none",
    "svg.hashsalt": "lossylink",  # the same figure gives the same bytes
    "pdf.fonttype": 42,
}

LABEL_SIZE = 7.5
"""Points of words in a plot and on the axis above it."""

GREY = "#8a8a8a"
INK = "#444444"

Dash = Any
"""A line style of matplotlib."""

#: A dash and a marker for each slot of the palette: a figure also reads in black and white.
SLOT_LOOKS: dict[str, tuple[Dash, Marker]] = {
    "vermillion": ((0, (7, 1.2, 1.4, 1.2)), "circle"),
    "blue": ("solid", "square"),
    "green": ((0, (6, 1.5)), "triangle"),
    "orange": ((0, (2.2, 1)), "down"),
    "purple": ((0, (5, 1.2, 1.2, 1.2, 1.2, 1.2)), "diamond"),
    "sky": ((0, (3, 1, 1, 1, 1, 1)), "cross"),
    "yellow": ((0, (8, 2)), "square"),
    "black": ("solid", "diamond"),
    "grey": ("solid", "circle"),
}
#: The dash of a series that stands back behind another of its colour.
SECOND_DASH: Dash = (0, (3, 2))
#: Dashes that tell something by themselves, in any colour.
STROKES: dict[Stroke, Dash] = {"solid": "solid", "dashed": (0, (4, 2)), "dotted": (0, (1.2, 1.6))}
#: Dashes of further series of one colour.
FURTHER_DASHES: tuple[Dash, ...] = ((0, (1.2, 1.2)), (0, (7, 1.5, 1.5, 1.5)), "solid")

SHAPES: dict[Marker, str] = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "down": "v",
    "cross": "X",
}


def colour_of(slot: str) -> str:
    """Return the colour of a slot of the palette.

    Examples
    --------
    >>> colour_of("blue"), colour_of("grey")
    ('#0072B2', '#8a8a8a')
    """
    return OKABE_ITO.get(slot, GREY)


def dash_of(slot: str, *, dashed: bool, repeat: int, stroke: Stroke | None = None) -> Dash:
    """Return the line style of a series; ``repeat`` counts those of its slot and kind that were before it.

    Examples
    --------
    >>> dash_of("blue", dashed=False, repeat=0), dash_of("blue", dashed=True, repeat=0)
    ('solid', (0, (3, 2)))
    >>> dash_of("vermillion", dashed=False, repeat=2, stroke="solid")
    'solid'
    """
    if stroke is not None:
        return STROKES[stroke]
    if dashed:
        return SECOND_DASH
    return SLOT_LOOKS[slot][0] if repeat == 0 else FURTHER_DASHES[(repeat - 1) % len(FURTHER_DASHES)]
