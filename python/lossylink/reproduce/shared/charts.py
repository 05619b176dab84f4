"""The chart that several published experiments share: the distribution of completion times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lossylink.charts.chart import Chart, Guide, Series, points
from lossylink.charts.distribution import survival_series
from lossylink.charts.kinds.ccdf import TIME
from lossylink.charts.palette import name_of, slots_of
from lossylink.charts.survival import survival_chart
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished
from lossylink.reproduce.shared.measures import Source, completion_times
from lossylink.statistics.percentiles import PERCENTILES


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
        survival_chart(
            series,
            identifier=identifier,
            title=title,
            caption="Share of flows that took at least this long."
            + (" Open markers are published percentiles." if published else ""),
            x=TIME,
            guides=guides,
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
