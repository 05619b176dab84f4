"""Forward error correction: quantities against loss, protection by protection, and a trace over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lossylink.plot.style import colours_of, dash_of, markers_of, new_figure
from lossylink.report.palette import name_of
from lossylink.statistics import mean_interval

LABELS = {
    "throughput_gbps": "throughput (Gb/s)",
    "cwnd_packets_mean": "mean window (packets)",
    "latency_us_mean": "mean latency (µs)",
    "latency_us_p99": "99th percentile of latency (µs)",
    "queue_bytes_mean": "mean queue (B)",
    "queue_bytes_max": "deepest queue (B)",
}
TRACE_INCHES = (5.0, 4.4)


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
    colours, markers = colours_of(protections), markers_of(protections)
    with new_figure() as (figure, (axes,)):
        for protection in protections:
            points = rows.filter(polars.col("protection") == protection)
            loss, means, lows, highs = _means(points, value)
            axes.errorbar(
                loss,
                means,
                yerr=[lows, highs],
                color=colours[protection],
                linestyle=dash_of(protection),
                marker=markers[protection],
                markerfacecolor="none",
                capsize=2,
                label=name_of(protection),
            )
        axes.set(
            xscale="log", xlabel="loss rate of the link", ylabel=LABELS.get(value, value), ylim=(0, None)
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


def fec_trace(traces: Mapping[str, Sequence[NDArray[np.float64]]]) -> Figure:
    """Latency (a moving average) and queue over time; ``traces`` gives time, latency and bytes by protection.

    Examples
    --------
    >>> time_s = np.arange(3.0)
    >>> fec_trace({"fec:5/5": (time_s, 100 * time_s, 1e5 * time_s)}).axes[1].get_ylabel()
    'queue (KB)'
    """
    colours = colours_of(tuple(traces))
    with new_figure(rows=2, size_inches=TRACE_INCHES, share_x=True) as (figure, (latencies, queues)):
        for protection, (time_s, latency_us, queue_bytes) in traces.items():
            colour = colours[protection]
            latencies.plot(time_s, latency_us, label=name_of(protection), color=colour, linewidth=0.8)
            queues.plot(time_s, queue_bytes / 1e3, color=colour, linewidth=0.8)
        latencies.set(ylabel="latency (µs)", ylim=(0, None))
        queues.set(xlabel="time (s)", ylabel="queue (KB)", ylim=(0, None))
        latencies.legend()
    return figure
