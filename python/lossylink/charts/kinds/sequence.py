"""Sequence numbers over time, of a capture: what was sent, what was sent again, what was acknowledged."""

from __future__ import annotations

from collections.abc import Sequence

import polars

from lossylink.charts.chart import Axis, Chart, Series, Sheet, embedded
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.samples import Line, Sample, lines_of, with_table

MOST_DOTS = 4000
"""Segments that are drawn; of more every so-manieth, but all that were sent again."""


def sheet(samples: Sequence[Sample]) -> Sheet:
    """Dots for segments, crosses for those that were sent again, a line for acknowledgements."""
    found = with_table(samples, "segments", "sent_bytes")
    if not found:
        raise CannotDrawError("no capture is given; run with --pcap h4-sw8=FILE.pcapng and plot FILE.pcapng")
    lines = lines_of(found)
    chart = Chart(
        "sequence",
        "Sequence numbers over time",
        "The first flow of the capture. Crosses were sent again.",
        Axis("time", "s"),
        Axis("bytes since the first", "KB", low=0.0),
        tuple(one for line in lines for one in _of_line(line, is_alone=len(lines) == 1)),
        wide=True,
    )
    return Sheet("sequence", (chart,))


def _of_line(line: Line, *, is_alone: bool) -> list[Series]:
    (sample,) = line.samples
    table = sample.tables["segments"]
    sent = table.filter(polars.col("sent_bytes").is_not_null())
    first, again = sent.filter(~polars.col("is_again")), sent.filter(polars.col("is_again"))
    first = first.gather_every(max(1, -(-first.height // MOST_DOTS)))
    acknowledged = table.filter(polars.col("acknowledged_bytes").is_not_null())
    acknowledged = acknowledged.gather_every(max(1, -(-acknowledged.height // MOST_DOTS)))
    slot = "vermillion" if is_alone else line.slot
    drawn = [
        (
            f"{line.label}, acknowledged",
            "bins",
            "black" if is_alone else slot,
            acknowledged,
            "acknowledged_bytes",
        ),
        (f"{line.label}, sent", "dots", line.slot, first, "sent_bytes"),
        (f"{line.label}, sent again", "dots", slot, again, "sent_bytes"),
    ]
    return [
        Series(
            name, color, embedded(part["time_s"]), embedded(part[column] / 1e3), kind=kind,  # type: ignore[arg-type]
            dashed=name.endswith("again"),
        )
        for name, kind, color, part, column in drawn
        if part.height
    ]  # fmt: skip


KIND = Kind(name="sequence", place=85, summary="sequence numbers of a capture over time", sheet=sheet)
