"""A link that starts to corrupt, and a protection that is switched on under traffic: a panel a quantity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars

from lossylink.charts.chart import Axis, Chart, Guide, Series, Sheet, embedded
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.samples import Sample, lines_of, with_table
from lossylink.units import parse_time

PANELS = {
    "send_gbps": ("Sending rate", Axis("rate", "Gb/s", low=0.0)),
    "queue_kb": ("Queue of the protected port", Axis("queue", "KB", low=0.0)),
    "rx_buffer_kb": ("Rx buffer", Axis("Rx buffer", "KB", low=0.0)),
    "retransmissions": ("End-to-end retransmissions a bin", Axis("segments", low=0.0)),
}
"""Columns of the table ``timeline`` that have a panel: its title and its axis."""

MOMENTS = {"timeline.corruption": "loss starts", "timeline.protection": "protection on"}
TIME = Axis("time", "s")


def sheet(samples: Sequence[Sample]) -> Sheet:
    """One panel a quantity, one line a sample."""
    found = with_table(samples, "timeline", "time_s")
    if not found:
        raise CannotDrawError("no run has a time line; run timeline")
    lines = lines_of(found)
    guides = moments(found)
    tables = {(line.label, line.slot): one.tables["timeline"] for line in lines for one in line.samples}
    return Sheet("timeline", panels(tables, guides))


def panels(tables: Mapping[tuple[str, str], polars.DataFrame], guides: Sequence[Guide]) -> tuple[Chart, ...]:
    """Draw time lines, given by label and slot: a chart a column that any has."""
    found = []
    for column, (title, axis) in PANELS.items():
        series = tuple(
            Series(label, slot, embedded(table["time_s"]), embedded(table[column]), kind="bins")
            for (label, slot), table in tables.items()
            if column in table.columns
        )
        if series:
            identifier = f"timeline-{column.replace('_', '-')}"
            found.append(Chart(identifier, title, "One value a bin.", TIME, axis, series, tuple(guides)))
    return tuple(found)


def moments(samples: Sequence[Sample]) -> tuple[Guide, ...]:
    """Return the instants that all samples share: the start of corruption, and that of the protection."""
    found = []
    for key, label in MOMENTS.items():
        values = {sample.settings.get(key, "auto") for sample in samples}
        text = values.pop()
        if not values and text not in {"auto", "None"}:
            found.append(Guide("x", parse_time(text) / 1e12, label))
    return tuple(found)


KIND = Kind(name="timeline", place=20, summary="sending rate, queue and buffers over time", sheet=sheet)
