"""Charts that several published experiments share: distributions over flows, and residual losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lossylink.charts.chart import Chart, Series, Sheet, embedded, points
from lossylink.charts.distribution import survival_series
from lossylink.charts.kinds.ccdf import TIME
from lossylink.charts.palette import name_of, slots_of
from lossylink.charts.survival import survival_chart
from lossylink.reproduce.framework.missing import known
from lossylink.reproduce.framework.model import Finished
from lossylink.reproduce.shared.measures import Source, completion_times
from lossylink.statistics.estimates import Estimate
from lossylink.statistics.percentiles import PERCENTILES


def distributions(
    samples: Mapping[str, Source], read: Callable[[Source], NDArray[np.float64]]
) -> list[Series]:
    """The complementary distribution of what ``read`` gives of each sample that was run."""
    slots = slots_of(tuple(samples))
    found = known(samples, lambda name: read(samples[name]))
    return [
        survival_series(name_of(name), slots[name], values, dashed=name == "loss-free")
        for name, values in found.items()
    ]


def residual_points(name: str, slot: str, x: Sequence[float], found: Sequence[Estimate]) -> Series:
    """Residual losses with their intervals; a triangle at the upper end where no frame was lost."""
    return Series(
        name,
        slot,
        embedded(x),
        embedded([one.value or one.high for one in found]),
        kind="points",
        markers=tuple("circle" if one.value else "triangle" for one in found),
        y_low=embedded([one.low or one.high for one in found]),
        y_high=embedded([one.high for one in found]),
    )


def grids(_finished: Finished, charts: Sequence[Chart]) -> tuple[Sheet, ...]:
    """Charts that are called alike but for the last word together on a sheet, two a row."""
    groups: dict[str, list[Chart]] = {}
    for chart in charts:
        groups.setdefault(chart.identifier.rpartition("-")[0], []).append(chart)
    return tuple(Sheet(name, tuple(group), columns=2) for name, group in groups.items())


def completion_chart(
    finished: Finished,
    samples: Mapping[str, Source],
    *,
    identifier: str,
    title: str,
    published: Mapping[str, Mapping[str, float]] | None = None,
) -> tuple[Chart, ...]:
    """Complementary distribution of completion times on two logarithmic axes, published values as points.

    ``samples`` maps the name of a colour slot to a job and a protection, ``published`` to percentiles.
    """
    series = distributions(samples, lambda source: completion_times(finished, source))
    if not series:
        return ()
    slots = slots_of(tuple(samples))
    series += [_published_points(name, slots[name], one) for name, one in (published or {}).items()]
    return (
        survival_chart(
            series,
            identifier=identifier,
            title=title,
            caption="Share of flows that took at least this long."
            + (" Open markers are published percentiles." if published else ""),
            x=TIME,
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
