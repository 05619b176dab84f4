"""What the stress test draws: buffers over time and by level, and where the capacity of the link went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lossylink.report.chart import Axis, Chart, Series, embedded
from lossylink.report.distribution import survival_series, thinned_series
from lossylink.report.link_budget import LinkBudget
from lossylink.report.palette import name_of, slots_of
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BUFFERS = {"tx_buffer_kb": "Tx", "rx_buffer_kb": "Rx"}


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
            slot = _slot(protection, side, slots)
            over_time.append(Series(name, slot, embedded(x), embedded(y), kind="dots"))
            levels.append(survival_series(name, slot, occupancy, dashed=dashed))
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


def _slot(protection: str, side: str, slots: Mapping[str, str]) -> str:
    """Dots cannot be dashed, so a Tx buffer beside its Rx buffer gets a colour of its own, in both charts."""
    return "sky" if protection == "lg" and side == "Tx" else slots[protection]


def stress_figures(finished: Finished, job: str, budgets: Sequence[LinkBudget]) -> dict[str, Figure]:
    """Buffers of one job, and where the capacity of every job went."""
    from lossylink import plot

    figures = {"link-speed": plot.link_speed(budgets)} if budgets else {}
    try:
        run = finished.run(job)
    except NotRunError:
        return figures
    return figures | ({"buffers": plot.buffers(run)} if "series" in run.tables else {})
