"""A link that starts to corrupt, and a protection that is switched on while traffic runs."""

from __future__ import annotations

from collections.abc import Mapping

import polars
from matplotlib.figure import Figure

from lossylink.plot.style import colours_of, dash_of, new_figure
from lossylink.report.palette import name_of
from lossylink.results import Run

PANELS = {
    "send_gbps": "sending rate\n(Gb/s)",
    "queue_kb": "queue\n(KB)",
    "rx_buffer_kb": "Rx buffer\n(KB)",
    "retransmissions": "end-to-end\nretransmissions",
}
"""Columns of the ``timeline`` table that have a panel; absent ones are left out."""


def timeline(run: Run, *, events_s: Mapping[str, float] | None = None) -> Figure:
    """One panel a quantity, one line a protection; ``events_s`` marks moments, such as when loss starts.

    Examples
    --------
    >>> table = polars.DataFrame({"protection": ["lg"] * 2, "time_s": [0.0, 0.1], "send_gbps": [24.0, 23.0]})
    >>> run = Run("timeline", "sim", "1", 1, 1.0, {}, polars.DataFrame(), {"timeline": table})
    >>> len(timeline(run, events_s={"loss": 0.05}).axes)
    1
    """
    table = run.tables["timeline"]
    panels = {column: label for column, label in PANELS.items() if column in table.columns}
    protections = tuple(table["protection"].unique(maintain_order=True))
    colours = colours_of(protections)
    size = (5.0, 0.6 + 1.15 * len(panels))
    with new_figure(rows=len(panels), size_inches=size, share_x=True) as (figure, all_axes):
        for axes, (column, label) in zip(all_axes, panels.items(), strict=True):
            for protection in protections:
                bins = table.filter(polars.col("protection") == protection)
                axes.plot(
                    bins["time_s"],
                    bins[column],
                    color=colours[protection],
                    linestyle=dash_of(protection),
                    drawstyle="steps-post",
                    label=name_of(protection),
                )
            axes.set(ylabel=label, ylim=(0, None))
            for moment in (events_s or {}).values():
                axes.axvline(moment, color="#666666", linewidth=0.8, linestyle=(0, (2, 2)))
        for name, moment in (events_s or {}).items():
            all_axes[0].annotate(name, (moment, 1.02), xycoords=("data", "axes fraction"), fontsize=8)
        all_axes[-1].set_xlabel("time (s)")
        handles, labels = all_axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure
