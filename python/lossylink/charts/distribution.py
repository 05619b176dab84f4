"""Distributions thinned for the page: the tail exact, the bulk at even steps of the logarithm."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossylink.charts.chart import Series, embedded
from lossylink.statistics.estimates import survival

EXACT_TAIL = 250
"""Largest values that are always kept one by one: all that a 99.9th percentile of 250 K flows rests on."""

BULK_POINTS = 400
"""Points for the rest: more than a chart has pixels to tell apart."""


def thinned_survival(values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Complementary distribution with its tail exact and its bulk thinned.

    Examples
    --------
    >>> x, share = thinned_survival(range(1, 100_001))
    >>> x.size <= EXACT_TAIL + BULK_POINTS, x[-1], share[-1]
    (True, np.float64(100000.0), np.float64(1e-05))
    """
    ordered, shares = survival(values)
    count = ordered.size
    if count <= EXACT_TAIL + BULK_POINTS:
        return ordered, shares
    # Ranks counted from the largest value; even steps of their logarithm are even steps on the axis.
    bulk = np.unique(np.geomspace(EXACT_TAIL + 1, count, BULK_POINTS).round().astype(np.int64))
    ranks = np.concatenate([np.arange(1, EXACT_TAIL + 1), bulk])
    kept = (count - ranks)[::-1]
    return ordered[kept], shares[kept]


def survival_series(name: str, colour: str, values: ArrayLike, *, dashed: bool = False) -> Series:
    """The complementary distribution of a sample as a staircase, down to the share of what never ended.

    Examples
    --------
    >>> series = survival_series("none", "blue", [1.0, 2.0, np.inf, np.inf])
    >>> series.x, series.y, series.never
    ((1.0, 2.0), (1.0, 0.75), (0.5,))
    """
    array = np.asarray(values, dtype=np.float64)
    ended = array[np.isfinite(array)]
    never = 1 - ended.size / array.size
    x, share = thinned_survival(ended) if ended.size else (ended, ended)
    return Series(
        name,
        colour,
        embedded(x),
        embedded(share * (1 - never) + never),
        kind="step",
        dashed=dashed,
        never=embedded([never]) if never else None,
    )


def thinned_series(
    x: NDArray[np.float64], y: NDArray[np.float64], *, buckets: int = 600
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A time series thinned so that every extreme stays: the minimum and maximum of each bucket, in order.

    Examples
    --------
    >>> x = np.arange(10_000.0)
    >>> y = np.where(x == 7777, 1.0, 0.0)
    >>> thin_x, thin_y = thinned_series(x, y, buckets=100)
    >>> thin_x.size <= 200, thin_y.max()
    (True, np.float64(1.0))
    """
    if x.size <= 2 * buckets:
        return x, y
    kept = set[int]()
    for bucket in np.array_split(np.arange(x.size), buckets):
        kept.add(int(bucket[np.argmin(y[bucket])]))
        kept.add(int(bucket[np.argmax(y[bucket])]))
    order = np.array(sorted(kept))
    return x[order], y[order]
