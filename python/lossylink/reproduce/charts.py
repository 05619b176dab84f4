"""Charts that several published experiments share: completion times, buffers over time, buffer levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lossylink.report.chart import Axis, Chart, Guide, Series, embedded, points
from lossylink.report.distribution import survival_series, thinned_series
from lossylink.report.palette import name_of, slots_of
from lossylink.reproduce.measures import Source, completion_times
from lossylink.reproduce.model import Finished, NotRunError
from lossylink.statistics import PERCENTILES

BUFFERS = {"tx_buffer_kb": "Tx", "rx_buffer_kb": "Rx"}


def completion_chart(
    finished: Finished,
    samples: Mapping[str, Source],
    *,
    identifier: str,
    title: str,
    published: Mapping[str, Mapping[str, float]] | None = None,
    guides: Sequence[Guide] = (),
) -> tuple[Chart, ...]:
    """Complementary distribution of completion times on two logarithmic axes, published values as points.

    ``samples`` maps the name of a colour slot to a job and a protection, ``published`` to percentiles.
    """
    slots = slots_of(tuple(samples))
    series: list[Series] = []
    for name, source in samples.items():
        try:
            values = completion_times(finished, source)
        except NotRunError:
            continue
        series.append(survival_series(name_of(name), slots[name], values, dashed=name == "loss-free"))
    if not series:
        return ()
    for name, percentiles in (published or {}).items():
        series.append(_published_points(name, slots[name], percentiles))
    return (
        Chart(
            identifier,
            title,
            "Share of flows that took at least this long."
            + (" Open markers are published percentiles." if published else ""),
            Axis("flow completion time", "µs", "log"),
            Axis("share of flows at least as slow", "", "log", high=1.0),
            tuple(series),
            tuple(guides),
            read="percentile",
            wide=True,
        ),
    )


def _published_points(name: str, slot: str, percentiles: Mapping[str, float]) -> Series:
    keys = [key for key in PERCENTILES if key in percentiles]
    return points(
        f"{name_of(name)}, published",
        slot,
        [percentiles[key] for key in keys],
        [1.0 - PERCENTILES[key] / 100.0 for key in keys],
        marker="square",
    )


def buffer_charts(
    finished: Finished, job: str, protections: Sequence[str], *, identifier: str
) -> tuple[Chart, ...]:
    """Occupancy of the Tx and Rx buffers over time, and the share of samples at or above each level."""
    slots = slots_of(tuple(protections))
    over_time: list[Series] = []
    levels: list[Series] = []
    for protection in protections:
        for column, side in BUFFERS.items():
            try:
                time_s = finished.column(job, protection, "series", "time_s")
                occupancy = finished.column(job, protection, "series", column)
            except NotRunError:
                continue
            if not np.any(occupancy > 0):
                continue  # a mode without that buffer
            name, dashed = f"{name_of(protection)}, {side} buffer", side == "Tx"
            x, y = thinned_series(time_s, occupancy)
            over_time.append(
                Series(name, _dot_slot(protection, side, slots), embedded(x), embedded(y), kind="dots")
            )
            levels.append(survival_series(name, slots[protection], occupancy, dashed=dashed))
    if not over_time:
        return ()
    return (
        Chart(
            f"{identifier}-buffer-time",
            "Buffer occupancy over time",
            "Sampled every 10 ms, as published; a high-water mark between samples is in the table.",
            Axis("time", "s"),
            Axis("buffer", "KB", low=0.0),
            tuple(over_time),
        ),
        Chart(
            f"{identifier}-buffer-levels",
            "Buffer occupancy, distribution",
            "Share of samples at or above a level.",
            Axis("buffer", "KB", low=0.0),
            Axis("share of samples at least as large", "", low=0.0, high=1.0),
            tuple(levels),
            read="percentile",
        ),
    )


def _dot_slot(protection: str, side: str, slots: Mapping[str, str]) -> str:
    """Dots cannot be dashed, so a Tx buffer beside its Rx buffer gets a colour of its own."""
    return "orange" if protection == "lg" and side == "Tx" else slots[protection]
