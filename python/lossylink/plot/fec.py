"""Throughput of one TCP flow against loss, protection by protection."""

from __future__ import annotations

import polars
from matplotlib.figure import Figure

from lossylink.plot.style import MARKERS, colours_of, dash_of, new_figure
from lossylink.report.palette import name_of
from lossylink.statistics import mean_interval


def fec_throughput(rows: polars.DataFrame, *, value: str = "throughput_gbps") -> Figure:
    """Mean of a row's ``value`` over trials against ``loss_rate``, with its interval where there are several.

    Examples
    --------
    >>> rows = polars.DataFrame(
    ...     {"protection": ["fec:25/5"] * 2, "loss_rate": [1e-3, 1e-2], "throughput_gbps": [7.8, 7.7]}
    ... )
    >>> fec_throughput(rows).axes[0].get_ylabel()
    'throughput (Gb/s)'
    """
    protections = tuple(rows["protection"].unique(maintain_order=True))
    colours = colours_of(protections)
    labels = {"throughput_gbps": "throughput (Gb/s)", "cwnd_packets_mean": "mean window (packets)"}
    with new_figure() as (figure, (axes,)):
        for place, protection in enumerate(protections):
            points = rows.filter(polars.col("protection") == protection)
            loss, means, lows, highs = _means(points, value)
            axes.errorbar(
                loss,
                means,
                yerr=[lows, highs],
                color=colours[protection],
                linestyle=dash_of(protection),
                marker=MARKERS[place % len(MARKERS)],
                markerfacecolor="none",
                capsize=2,
                label=name_of(protection),
            )
        axes.set(
            xscale="log", xlabel="loss rate of the link", ylabel=labels.get(value, value), ylim=(0, None)
        )
        axes.legend()
    return figure


def _means(points: polars.DataFrame, value: str) -> tuple[list[float], list[float], list[float], list[float]]:
    """Loss rates, means, and how far the interval reaches below and above each."""
    columns: tuple[list[float], list[float], list[float], list[float]] = ([], [], [], [])
    for (loss,), trials in points.sort("loss_rate").group_by(["loss_rate"], maintain_order=True):
        estimate = mean_interval(trials[value].to_numpy())
        several = trials.height > 1
        reach = (estimate.value - estimate.low, estimate.high - estimate.value) if several else (0.0, 0.0)
        for column, number in zip(columns, (float(str(loss)), estimate.value, *reach), strict=True):
            column.append(number)
    return columns
