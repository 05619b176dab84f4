"""Figures 3 and 4 of the study: measured against modelled bandwidth, and BW * RTT / MSS against loss.

Points are coloured by RTT and shaped by MSS and carry 95 % bars. Beside them run the law with C = 1
(figure 3's line of slope 1), the law with sqrt(3/2), and PFTK, which describes a TCP without SACK, RACK and
tail-loss probes: where losses are frequent a modern stack is faster than it, and that is the point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, Final, Literal, ParamSpec

import matplotlib
import numpy as np
import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lossylink.experiments.mathis.curves import PublishedPoint, curves, points
from lossylink.report.palette import OKABE_ITO, ORDERED_SLOTS
from lossylink.theory import mathis

Drawing = ParamSpec("Drawing")
Dash = Literal["-", "--", ":"]
Corner = Literal["upper left", "upper right", "lower left", "lower right"]

SIZE_INCHES: Final = (7.0, 5.2)
RESOLUTION_DPI: Final = 200

MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
"""Shapes by MSS, smallest first."""

_GREY: Final = "#555555"


def _in_our_look(draw: Callable[Drawing, Figure]) -> Callable[Drawing, Figure]:
    """Draw in the look of all figures."""

    @wraps(draw)
    def drawn(*arguments: Drawing.args, **options: Drawing.kwargs) -> Figure:
        from lossylink.plot.style import RC  # the package of figures has this module's among its own

        with matplotlib.rc_context(RC):
            return draw(*arguments, **options)

    return drawn


@_in_our_look
def figure3(rows: Iterable[Mapping[str, Any]], published: Sequence[PublishedPoint] = ()) -> Figure:
    """Draw measured against modelled bandwidth on log axes.

    Parameters
    ----------
    rows
        Rows of the study, of one protection; at least one.
    published
        Trials that somebody else measured, as filled black squares.

    Returns
    -------
    matplotlib.figure.Figure
        Not bound to any display; save it or embed it.

    Raises
    ------
    ValueError
        There is no row.
    """
    frame = _in_mbps(_frame(rows))
    figure, axes = _axes("model MSS/(RTT·√p) (Mb/s)", "measured (Mb/s)")
    span = np.array([frame["model_bps"].min(), frame["model_bps"].max()], dtype=np.float64)
    axes.plot(span, span, color=_GREY, linewidth=1)
    axes.plot(span, span * mathis.PERIODIC, color=_GREY, linewidth=1, linestyle="--")
    models = _in_mbps(_models(frame))
    for rtt, colour in _colours(frame).items():
        one = models.filter(_same(rtt))
        axes.plot(one["model_bps"], one["pftk_bps"], color=colour, linewidth=0.8, linestyle=":")
    _scatter(axes, frame, across="model_bps", value="measured_bps", low="low_bps", high="high_bps")
    _published(axes, [(point.model_bps / 1e6, point.measured_mbps) for point in published])
    mss = _curve_mss(frame)
    lines: tuple[tuple[Dash, str], ...] = (
        ("-", "C = 1: slope 1"),
        ("--", "C = √(3/2)"),
        (":", f"PFTK, by RTT, MSS {mss} B"),
    )
    _legends(axes, frame, lines, corner="upper left", other="lower right")
    axes.set_title("Figure 3: measured against modelled bandwidth")
    return figure


@_in_our_look
def figure4(rows: Iterable[Mapping[str, Any]], published: Sequence[PublishedPoint] = ()) -> Figure:
    """Draw BW * RTT / MSS, the average window in segments, against the loss ratio on log axes.

    Parameters, returns and raises as `figure3`.
    """
    frame = _frame(rows)
    figure, axes = _axes("loss ratio p", "BW·RTT/MSS (segments)")
    models = _models(frame)
    for number, (rtt, colour) in enumerate(_colours(frame).items()):
        one = models.filter(_same(rtt))
        if number == 0:
            axes.plot(one["loss_ratio"], 1 / np.sqrt(one["loss_ratio"].to_numpy()), color=_GREY, linewidth=1)
            axes.plot(one["loss_ratio"], one["sqrt32_segments"], color=_GREY, linewidth=1, linestyle="--")
        axes.plot(one["loss_ratio"], one["pftk_segments"], color=colour, linewidth=0.8, linestyle=":")
    low, high = "window_low_segments", "window_high_segments"
    _scatter(axes, frame, across="loss_ratio", value="window_segments", low=low, high=high)
    _published(axes, [(point.loss_ratio, point.window_segments) for point in published])
    lines: tuple[tuple[Dash, str], ...] = (("-", "1/√p"), ("--", "√(3/2)/√p"), (":", "PFTK, by RTT"))
    _legends(axes, frame, lines, corner="lower left", other="upper right")
    axes.set_title("Figure 4: BW·RTT/MSS against loss")
    return figure


def _frame(rows: Iterable[Mapping[str, Any]]) -> polars.DataFrame:
    frame = points(rows)
    if frame.is_empty():
        raise ValueError("no row to draw: run at least one trial")
    return frame


def _in_mbps(frame: polars.DataFrame) -> polars.DataFrame:
    """Return the frame with its bandwidths in Mb/s, as the report has them."""
    return frame.with_columns(polars.col("^.*_bps$") / 1e6)


def _axes(across: str, up: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=SIZE_INCHES, dpi=RESOLUTION_DPI, layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    return figure, axes


def _models(frame: polars.DataFrame) -> polars.DataFrame:
    """Compute the curves over the points' own range of loss ratios, widened where there is only one."""
    low, high = float(frame["loss_ratio"].min()), float(frame["loss_ratio"].max())  # type: ignore[arg-type]
    return curves(
        rtt_ms=sorted(set(frame["rtt_ms"])),
        loss_min=low / 1.2,
        loss_max=min(0.99, high * 1.2),
        mss_bytes=_curve_mss(frame),
    )


def _curve_mss(frame: polars.DataFrame) -> int:
    """Pick the middle segment size for figure 3's PFTK curves, one set being enough to read."""
    sizes = sorted(set(frame["mss_bytes"]))
    return int(sizes[len(sizes) // 2])


def _same(rtt_ms: float) -> polars.Expr:
    return (polars.col("rtt_ms") - rtt_ms).abs() < 1e-9 * max(1.0, rtt_ms)


def _colours(frame: polars.DataFrame) -> dict[float, Any]:
    times = sorted(set(frame["rtt_ms"]))
    slots = (ORDERED_SLOTS[place % len(ORDERED_SLOTS)] for place in range(len(times)))
    return {rtt: OKABE_ITO[slot] for rtt, slot in zip(times, slots, strict=True)}


def _shapes(frame: polars.DataFrame) -> dict[int, str]:
    sizes = sorted(set(frame["mss_bytes"]))
    return {size: MARKERS[place % len(MARKERS)] for place, size in enumerate(sizes)}


def _scatter(axes: Axes, frame: polars.DataFrame, *, across: str, value: str, low: str, high: str) -> None:
    """Draw each point with its bar; a point without an interval has none."""
    colours, shapes = _colours(frame), _shapes(frame)
    for point in frame.iter_rows(named=True):
        bar = None
        if point[low] is not None:
            bar = [[point[value] - point[low]], [point[high] - point[value]]]
        axes.errorbar(
            point[across],
            point[value],
            yerr=bar,
            color=colours[point["rtt_ms"]],
            marker=shapes[point["mss_bytes"]],
            markersize=5,
            markerfacecolor="none",
            elinewidth=0.8,
        )


def _published(axes: Axes, places: Sequence[tuple[float, float]]) -> None:
    """Draw published trials, and name them where they stand."""
    for x, y in places:
        axes.plot(x, y, color="black", marker="s", markersize=6, linestyle="none")
        axes.annotate("published", (x, y), textcoords="offset points", xytext=(7, -3), fontsize="small")


def _legends(
    axes: Axes, frame: polars.DataFrame, lines: Sequence[tuple[Dash, str]], *, corner: Corner, other: Corner
) -> None:
    """Name the curves in one corner, and colours and shapes in the opposite one."""
    style: dict[str, Any] = {"frameon": False, "fontsize": "small"}
    drawn = [Line2D([], [], color=_GREY, linewidth=1, linestyle=dash, label=name) for dash, name in lines]
    axes.add_artist(axes.legend(handles=drawn, loc=corner, **style))
    keys = [
        Line2D([], [], color=colour, linewidth=3, label=f"RTT {rtt:g} ms")
        for rtt, colour in _colours(frame).items()
    ]
    keys += [
        Line2D(
            [], [], color="black", linestyle="", marker=shape, markerfacecolor="none", label=f"MSS {size} B"
        )
        for size, shape in _shapes(frame).items()
    ]
    axes.legend(handles=keys, loc=other, **style)
