"""The congestion window of a flow over time."""

from __future__ import annotations

from collections.abc import Sequence

from lossylink.charts.chart import Axis, Sheet
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.kinds._series import over_time
from lossylink.charts.samples import Sample

WINDOW = Axis("congestion window", "segments", low=0.0)


def sheet(samples: Sequence[Sample]) -> Sheet:
    """One line a sample."""
    chart = over_time(samples, "cwnd_packets", "Congestion window", WINDOW)
    if chart is None:
        raise CannotDrawError("no run has a congestion window over time; run fec with traffic.source = tcp")
    return Sheet("cwnd", (chart,))


KIND = Kind(name="cwnd", place=80, summary="congestion window over time", sheet=sheet)
