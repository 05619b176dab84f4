"""Percentiles of completion times against the loss of the link."""

from __future__ import annotations

from collections.abc import Sequence

from lossylink.charts.chart import Sheet
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.kinds._losses import ALONG, OF_LINK, SWEEP_IT, by_process, link_loss
from lossylink.charts.kinds._percentiles import points_of_row, series_of, sheet_of, with_times
from lossylink.charts.samples import Sample, distinct, lines_of


def sheet(samples: Sequence[Sample]) -> Sheet:
    """Three lines a protection: half, one in a hundred and one in a thousand flows are slower."""
    found = [one for one in with_times(samples) if link_loss(one)]
    if not found:
        raise CannotDrawError("no run has flows over a link that loses; run tcp-fct, rdma-fct or workload")
    if len(distinct(found, link_loss)) < 2:
        raise CannotDrawError(SWEEP_IT)
    series = [
        one
        for line in lines_of(by_process(found), across=(ALONG, "flow.trials"))
        for one in series_of(
            line,
            (point for sample in line.samples for point in points_of_row(sample, link_loss(sample) or 0.0)),
        )
    ]
    return sheet_of("fct-loss", "Completion times against the loss of the link", OF_LINK, series)


KIND = Kind(
    name="fct-loss",
    place=65,
    summary="50th, 99th and 99.9th percentile against the loss of the link",
    sheet=sheet,
)
