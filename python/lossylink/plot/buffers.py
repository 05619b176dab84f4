"""Occupancy of the switches' buffers: samples over time, and the share of samples at or above each level."""

from __future__ import annotations

from typing import Any

import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lossylink.plot.style import colours_of, new_figure
from lossylink.report.palette import name_of
from lossylink.results import Run
from lossylink.statistics import survival

SIDES = {"tx_buffer_kb": ("Tx", (0, (4, 2))), "rx_buffer_kb": ("Rx", "solid")}


def buffers(run: Run) -> Figure:
    """Buffer samples of a stress run: time on the left, distribution on the right.

    Examples
    --------
    >>> series = polars.DataFrame(
    ...     {"protection": ["lg"] * 3, "time_s": [0.0, 0.01, 0.02], "rx_buffer_kb": [0.0, 40.0, 80.0]}
    ... )
    >>> run = Run("stress", "sim", "1", 1, 1.0, {}, polars.DataFrame(), {"series": series})
    >>> len(buffers(run).axes)
    2
    """
    series = run.tables["series"]
    protections = tuple(series["protection"].unique(maintain_order=True))
    colours = colours_of(protections)
    with new_figure(columns=2, size_inches=(7.0, 2.9)) as (figure, (over_time, levels)):
        for protection in protections:
            samples = series.filter(polars.col("protection") == protection)
            _draw(over_time, levels, samples, name_of(protection), colours[protection])
        over_time.set(xlabel="time (s)", ylabel="buffer (KB)", ylim=(0, None))
        levels.set(xlabel="buffer (KB)", ylabel="share of samples at least as large", ylim=(0, 1.02))
        levels.legend()
    return figure


def _draw(over_time: Axes, levels: Axes, samples: polars.DataFrame, name: str, colour: str) -> None:
    for column, (side, dash) in SIDES.items():
        if column not in samples.columns or not samples[column].max():
            continue  # a mode without that buffer
        marker = "." if side == "Rx" else "x"
        # Thousands of dots are an image inside a vector figure.
        style: dict[str, Any] = {
            "color": colour,
            "markersize": 2.2,
            "markeredgewidth": 0.5,
            "rasterized": True,
        }
        over_time.plot(samples["time_s"], samples[column], marker, **style)
        x, share = survival(samples[column].to_numpy())
        levels.step(x, share, where="pre", color=colour, linestyle=dash, label=f"{name}, {side}")
