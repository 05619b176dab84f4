"""Protections beside each other: speed against loss link by link, and where go-back-N is fast enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter
from numpy.typing import NDArray

from lossylink.plot.style import RC, RESOLUTION_DPI, colours_of, dash_of, markers_of, new_figure
from lossylink.report.palette import OKABE_ITO, name_of

SPEED_INCHES = (9.0, 5.4)
MAP_INCHES = (9.0, 4.2)
GREY = "#555555"
EDGE_SLOTS = ("vermillion", "orange", "blue")
EDGE_DASHES: tuple[Any, ...] = ((0, (1.2, 1.2)), (0, (5, 1.5)), "solid")
RATES_GBPS = (1, 10, 25, 100, 400, 800)


@dataclass(frozen=True)
class Curve:
    """A protection on one link: the share of the line it leaves at each loss."""

    protection: str
    losses: tuple[float, ...]
    shares: tuple[float, ...]
    healthy: tuple[bool, ...]
    """Whether the residual loss is that of a healthy link."""


@dataclass(frozen=True)
class Edge:
    """The fastest line that keeps the bar, over lengths of cable."""

    switch: str
    frame_bytes: int
    lengths_m: NDArray[np.float64]
    rates_gbps: NDArray[np.float64]


@dataclass(frozen=True)
class Tried:
    """A point of the map that was simulated."""

    switch: str
    gbps: float
    metres: float
    frame_bytes: int
    share: float


def protections_speed(panels: Mapping[tuple[int, int], Sequence[Curve]]) -> Figure:
    """Effective speed over line rate against loss; a panel a link, given by its Gb/s and its metres.

    Examples
    --------
    >>> curve = Curve("llr", (1e-4, 1e-2), (0.99, 0.6), (True, True))
    >>> len(protections_speed({(100, 10): [curve], (400, 10): [curve]}).axes)
    2
    """
    rates, lengths = sorted({gbps for gbps, _ in panels}), sorted({metres for _, metres in panels})
    words = tuple(dict.fromkeys(curve.protection for curves in panels.values() for curve in curves))
    with mpl.rc_context(RC):
        figure = Figure(figsize=SPEED_INCHES, dpi=RESOLUTION_DPI, layout="constrained")
        grid = figure.subplots(len(lengths), len(rates), squeeze=False, sharex=True, sharey=True)
        for metres, line in zip(lengths, grid, strict=True):
            for gbps, axes in zip(rates, line, strict=True):
                _panel(axes, panels.get((gbps, metres), ()), words)
                axes.set_title(f"{gbps} Gb/s, {metres} m", fontsize=9, fontweight="bold")
        for axes in grid[-1]:
            axes.set_xlabel("loss rate of the link")
        for line in grid:
            line[0].set_ylabel("effective speed / line rate")
        figure.legend(handles=_legend(words), loc="outside upper center", ncols=len(words) + 2, fontsize=8)
    return figure


def _panel(axes: Axes, curves: Sequence[Curve], words: tuple[str, ...]) -> None:
    colours, markers = colours_of(words), markers_of(words)
    for curve in curves:
        colour = colours[curve.protection]
        axes.plot(curve.losses, curve.shares, color=colour, linestyle=dash_of(curve.protection), zorder=2)
        for healthy in (False, True):
            chosen = [place for place, mark in enumerate(curve.healthy) if mark is healthy]
            axes.plot(
                [curve.losses[place] for place in chosen],
                [curve.shares[place] for place in chosen],
                linestyle="none",
                marker=markers[curve.protection],
                markersize=5,
                color=colour,
                markerfacecolor=colour if healthy else "white",
                zorder=3,
            )
    axes.set(xscale="log", xlim=(6e-7, 1.7e-1), ylim=(-0.03, 1.05))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.xaxis.set_minor_locator(NullLocator())


def _legend(words: tuple[str, ...]) -> list[Line2D]:
    colours, markers = colours_of(words), markers_of(words)
    lines = [
        Line2D(
            [], [], color=colours[word], linestyle=dash_of(word), marker=markers[word], label=name_of(word)
        )
        for word in words
    ]
    return [*lines, _mark("o", GREY, "at most 1e-8 stays lost"), _mark("o", "white", "more stays lost")]


def _mark(marker: str, face: str, label: str) -> Line2D:
    return Line2D([], [], linestyle="none", marker=marker, color=GREY, markerfacecolor=face, label=label)


def retry_map(edges: Sequence[Edge], tried: Sequence[Tried], *, bar: float) -> Figure:
    """Line rates and cables at which go-back-N keeps ``bar``, by size of frames; a panel a switch.

    Examples
    --------
    >>> edge = Edge("ideal", 9014, np.array([1.0, 1000.0]), np.array([300.0, 7.0]))
    >>> len(retry_map([edge], [Tried("ideal", 25, 100, 9014, 0.961)], bar=0.95).axes)
    1
    """
    switches = tuple(dict.fromkeys(edge.switch for edge in edges))
    sizes = tuple(sorted({edge.frame_bytes for edge in edges}))
    looks = dict(zip(sizes, zip(EDGE_SLOTS, EDGE_DASHES, strict=True), strict=False))
    with new_figure(columns=len(switches), size_inches=MAP_INCHES) as (figure, panels):
        for switch, axes in zip(switches, panels, strict=True):
            for edge in (edge for edge in edges if edge.switch == switch):
                slot, dash = looks[edge.frame_bytes]
                axes.plot(edge.lengths_m, edge.rates_gbps, color=OKABE_ITO[slot], linestyle=dash)
                axes.fill_between(
                    edge.lengths_m, edge.rates_gbps, 1e-3, color=OKABE_ITO[slot], alpha=0.09, linewidth=0
                )
            for point in (point for point in tried if point.switch == switch):
                _try(axes, point, OKABE_ITO[looks[point.frame_bytes][0]], bar)
            axes.set(xscale="log", yscale="log", xlim=(1, 1000), ylim=(1, 1600), xlabel="cable (m)")
            axes.set_title(f"switch profile {switch}, loss 2 %", fontsize=9, fontweight="bold")
            axes.yaxis.set_major_locator(FixedLocator(RATES_GBPS))
            axes.yaxis.set_minor_locator(NullLocator())
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
        panels[0].set_ylabel("line rate (Gb/s)")
        handles = [
            Line2D([], [], color=OKABE_ITO[slot], linestyle=dash, label=f"{size:,} B frames: 95 % kept below")
            for size, (slot, dash) in looks.items()
        ]
        handles += [
            _mark("o", GREY, f"simulated, at least {bar * 100:g} %"),
            _mark("X", "white", "simulated, less"),
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=3, fontsize=8)
    return figure


def _try(axes: Axes, point: Tried, colour: str, bar: float) -> None:
    keeps = point.share >= bar
    axes.plot(
        [point.metres],
        [point.gbps],
        linestyle="none",
        marker="o" if keeps else "X",
        markersize=7,
        color=colour,
        markerfacecolor=colour if keeps else "white",
        zorder=4,
    )
    # The nearest edge lies above and right of a point that keeps the bar, else below and left.
    place: dict[str, Any] = {"xytext": (-7, -5), "ha": "right", "va": "top"} if keeps else {"xytext": (6, 5)}
    share = f"{point.share * 100:.1f} %"
    axes.annotate(share, (point.metres, point.gbps), textcoords="offset points", fontsize=7.5, **place)
