"""The chart of a distribution: the share of values at least as large, on two logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence

from lossylink.charts.chart import Axis, Chart, Guide, Series, with_never


def survival_chart(
    series: Sequence[Series],
    *,
    identifier: str,
    title: str,
    caption: str,
    x: Axis,
    of: str = "flows",
    guides: Sequence[Guide] = (),
    wide: bool = False,
) -> Chart:
    """Make the chart of curves that `lossylink.charts.distribution.survival_series` gave, and of points."""
    return Chart(
        identifier,
        title,
        with_never(caption, series),
        x,
        Axis(f"share of {of} at least as slow", "", "log", high=1.0),
        tuple(series),
        tuple(guides),
        read="percentile",
        wide=wide,
    )
