"""The two figures of the Mathis study: measured against modelled bandwidth, and the window against loss."""

from __future__ import annotations

import numpy as np
import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lossylink.plot.style import MARKERS, new_figure
from lossylink.report.palette import OKABE_ITO

RTT_SLOTS = ("blue", "sky", "green", "orange", "vermillion", "purple", "black")
"""Colours of round-trip times, shortest first."""

RANDOM_LOSS_CONSTANT = float(np.sqrt(1.5))
"""C of BW = C MSS / (RTT sqrt(p)) for an ACK a segment (Mathis et al. 1997, equation 3)."""


def mathis_figure3(rows: polars.DataFrame) -> Figure:
    """Measured against modelled bandwidth, with the line of slope 1; colour is RTT, shape is MSS.

    Examples
    --------
    >>> rows = polars.DataFrame(
    ...     {"mss_bytes": [1460], "rtt_ms": [6.0], "loss_ratio": [0.01], "model_mbps": [19.5],
    ...      "measured_mbps": [22.9]}
    ... )
    >>> mathis_figure3(rows).axes[0].get_xlabel()
    'MSS / (RTT √p) (Mb/s)'
    """
    with new_figure(size_inches=(4.6, 3.9)) as (figure, (axes,)):
        _scatter(axes, rows, "model_mbps", "measured_mbps")
        values = [*rows["model_mbps"].drop_nulls(), *rows["measured_mbps"].drop_nulls()]
        ends = [0.7 * min(values), 1.4 * max(values)]
        axes.plot(ends, ends, color="#666666", linewidth=0.9, zorder=1)
        axes.set(xscale="log", yscale="log", xlabel="MSS / (RTT √p) (Mb/s)", ylabel="measured (Mb/s)")
        _legend(axes, rows)
    return figure


def mathis_figure4(rows: polars.DataFrame) -> Figure:
    """Window BW * RTT / MSS in segments against loss, with the law sqrt(3/2) / sqrt(p).

    Examples
    --------
    >>> rows = polars.DataFrame(
    ...     {"mss_bytes": [1460], "rtt_ms": [6.0], "loss_ratio": [0.01], "measured_mbps": [22.9]}
    ... )
    >>> mathis_figure4(rows).axes[0].get_yscale()
    'log'
    """
    window = polars.col("measured_mbps") * 1e6 * polars.col("rtt_ms") * 1e-3 / (polars.col("mss_bytes") * 8)
    with_window = rows.with_columns(window_segments=window)
    with new_figure(size_inches=(4.6, 3.9)) as (figure, (axes,)):
        _scatter(axes, with_window, "loss_ratio", "window_segments")
        ratios = rows["loss_ratio"].to_numpy()
        loss = np.geomspace(ratios.min(), ratios.max(), 60)
        axes.plot(loss, RANDOM_LOSS_CONSTANT / np.sqrt(loss), color="#666666", linewidth=0.9, zorder=1)
        axes.set(xscale="log", yscale="log", xlabel="loss ratio p", ylabel="BW * RTT / MSS (segments)")
        _legend(axes, rows)
    return figure


def _scatter(axes: Axes, rows: polars.DataFrame, x: str, y: str) -> None:
    colours, markers = _colours(rows), _markers(rows)
    for (mss, rtt), group in rows.drop_nulls([x, y]).group_by(["mss_bytes", "rtt_ms"], maintain_order=True):
        axes.plot(
            group[x], group[y], markers[mss], color=colours[rtt], markerfacecolor="none", linestyle="none"
        )


def _colours(rows: polars.DataFrame) -> dict[object, str]:
    times = rows["rtt_ms"].unique().sort()
    return {rtt: OKABE_ITO[RTT_SLOTS[place % len(RTT_SLOTS)]] for place, rtt in enumerate(times)}


def _markers(rows: polars.DataFrame) -> dict[object, str]:
    sizes = rows["mss_bytes"].unique().sort()
    return {mss: MARKERS[place % len(MARKERS)] for place, mss in enumerate(sizes)}


def _legend(axes: Axes, rows: polars.DataFrame) -> None:
    """RTT by colour and MSS by shape, instead of one entry for each of their pairs."""
    handles = [
        Line2D([], [], color=colour, label=f"RTT {rtt:g} ms") for rtt, colour in _colours(rows).items()
    ]
    handles += [
        Line2D(
            [],
            [],
            color="#444444",
            marker=marker,
            markerfacecolor="none",
            linestyle="none",
            label=f"MSS {mss} B",
        )
        for mss, marker in _markers(rows).items()
    ]
    axes.legend(handles=handles, ncols=2)
