"""Percentiles, their intervals and the intervals of rare events, as every lossylink table states them.

A percentile is the linear interpolation between order statistics (what pandas' ``describe`` prints). Its
interval is distribution-free: only ranks enter, so a tail of milliseconds among microseconds needs no model.
An infinite value is a trial that never ended, and is slower than all that did. A percentile among such trials
is infinite.
Zero events give an upper bound, never an estimate of zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy  # its parts are loaded where they are used
from numpy.typing import ArrayLike, NDArray

from lossylink import _native
from lossylink.statistics import CONFIDENCE, intervals
from lossylink.statistics.percentiles import PERCENTILES

RESAMPLES = 4000
"""Draws behind a bootstrap interval: its ends then repeat within about a hundredth of its width."""

LEAST_BATCHES = 20
"""Batches of consecutive values, at least, from which a variance is estimated."""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value with the interval that it is known to; ``low`` and ``high`` equal it when it is exact."""

    value: float
    low: float
    high: float
    lacking: float = field(default=1.0, repr=False, compare=False)
    """By how many times more values the sample would have both ends; 1 where it has them."""

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """Wrap a value that carries no sampling error."""
        return cls(value, value, value)

    @property
    def is_exact(self) -> bool:
        """Whether the interval has no width."""
        return self.low == self.value == self.high

    def as_json(self) -> dict[str, float]:
        """Return the value and both ends."""
        return {"value": self.value, "low": self.low, "high": self.high}

    def contains(self, value: float) -> bool:
        """Whether the interval holds ``value``."""
        return self.low <= value <= self.high


def _sorted_values(values: ArrayLike) -> Values:
    array = np.sort(np.asarray(values, dtype=np.float64).ravel())
    if array.size == 0:
        raise ValueError("a percentile needs at least one value")
    if np.isnan(array[-1]):
        raise ValueError("a percentile of values that include nan is undefined")
    return array


def percentile(values: ArrayLike, percent: float) -> float:
    """Percentile by linear interpolation at rank ``(n - 1) * percent / 100``.

    Examples
    --------
    >>> percentile([1.0, 2.0, 3.0, 4.0], 50)
    2.5
    >>> [percentile([1.0, 2.0, float("inf")], percent) for percent in (50, 51)]
    [2.0, inf]
    """
    return _percentile_of_sorted(_sorted_values(values), percent)


def _percentile_of_sorted(array: Values, percent: float) -> float:
    """Return what `percentile` gives of values in ascending order, which may be very many."""
    rank = (array.size - 1) * (percent / 100.0)
    below, above = int(np.floor(rank)), int(np.ceil(rank))
    if np.isposinf(array[above]):
        # Numpy's interpolation makes nan of infinite values.
        return float(_between(array[below], array[above], rank - below))
    # Numpy interpolates from the end that is nearer.
    low, high, way = float(array[below]), float(array[above]), rank - below
    return low + (high - low) * way if way < 0.5 else high - (high - low) * (1.0 - way)


def _between(low: ArrayLike, high: ArrayLike, way: float) -> Values:
    """Return the values between two, of which the upper one may be infinite."""
    near: Values = np.asarray(low, dtype=np.float64)
    far: Values = np.asarray(high, dtype=np.float64)
    apart = np.zeros_like(near)
    np.subtract(far, near, out=apart, where=(near < far) & (way > 0))
    return near + way * apart


def describe(values: ArrayLike) -> dict[str, float]:
    """Summary of a sample under the keys of a row: min, mean, percentiles, max, std (n - 1) and count.

    Examples
    --------
    >>> summary = describe([1.0, 2.0, 3.0])
    >>> summary["p50"], summary["std"], summary["count"]
    (2.0, 1.0, 3.0)
    """
    array = _sorted_values(values)
    summary = {"min": float(array[0]), "mean": float(array.mean())}
    summary |= {key: _percentile_of_sorted(array, percent) for key, percent in PERCENTILES.items()}
    summary |= {"max": float(array[-1]), "std": _deviation(array)}
    return summary | {"count": float(array.size)}


def _deviation(array: Values) -> float:
    if np.isposinf(array[-1]):
        return float("inf")
    return float(array.std(ddof=1)) if array.size > 1 else 0.0


def percentile_interval(
    values: ArrayLike, percent: float, *, block: int = 1, confidence: float = CONFIDENCE
) -> Estimate:
    """Percentile with its order-statistic interval (exact for any continuous distribution).

    The number of values below the true percentile is Bin(n, q), so two ranks enclose it. When the sample is
    too small for a rank beyond it, that end is open: infinite above, zero below (values are times).

    Values that depend on each other tell as much as fewer independent ones (Woodruff 1952, Korn and Graubard
    1998): the ranks are those of n over the design effect, by which the variance of the number of values
    beyond the percentile exceeds that of independent ones.

    Parameters
    ----------
    values
        In the order in which they arose.
    block
        Values that follow each other and may depend on each other; 1 where all are independent.

    Examples
    --------
    >>> percentile_interval(range(101), 50)
    Estimate(value=50.0, low=40.0, high=60.0)
    >>> percentile_interval(range(100), 99.9).high
    inf

    A thousand values, of which ten at a time are the same one, tell as much as a hundred:

    >>> alone = np.random.default_rng(1).exponential(size=100)
    >>> one, other = percentile_interval(alone, 50), percentile_interval(alone.repeat(10), 50, block=10)
    >>> one.low >= other.low, one.high <= other.high
    (True, True)
    """
    array = _sorted_values(values)
    value = _percentile_of_sorted(array, percent)
    effective = array.size / _design_effect(np.asarray(values) > value, block=block, confidence=confidence)
    count = max(1, int(effective))
    first, last = _native.enclosing_places(array.size, count, percent / 100.0, confidence)
    low = 0.0 if first is None else float(array[first])
    high = math.inf if last is None else float(array[last])
    lacking = max(_lacking(count, end, confidence) for end in (percent, 100.0 - percent))
    # Interpolation can leave the ranks of a tiny sample; the interval still holds what is printed beside it.
    return Estimate(value, min(low, value), max(high, value), lacking)


def _design_effect(events: NDArray[np.bool_], *, block: int, confidence: float) -> float:
    """Return how many values tell as much as one independent one, whether they are events being the question.

    The counts of batches of consecutive values tell, each of a block or, where blocks are fewer than
    `LEAST_BATCHES`, of a part of one. The estimate is widened by Student's quantile over the normal one.
    """
    if block <= 1:
        return 1.0
    starts = _batch_starts(events.size, block)
    counts, sizes = np.add.reduceat(events.astype(np.int64), starts), np.diff(starts, append=events.size)
    batches = list(zip(counts.tolist(), sizes.tolist(), strict=True))
    return _native.design_effect(batches, confidence=confidence)[0]


def _batch_starts(count: int, block: int) -> NDArray[np.int64]:
    """Return where batches of consecutive values begin."""
    batches = min(count, max(LEAST_BATCHES, round(count / block)))
    return np.arange(batches) * count // batches


def _resampled_percentiles(
    array: Values, effective: float, percent: float, draws: np.random.Generator, resamples: int
) -> Values:
    """Percentiles of bootstrap resamples, drawn through uniform order statistics instead of n values each.

    The (k + 1)-th of n uniform numbers is Beta(k + 1, n - k), the k-th is that times Beta(k, 1): two draws
    replace n. ``effective`` is n: as many values as tell as much as all, if they were independent.
    """
    count = array.size
    position = (effective - 1) * percent / 100.0
    rank = int(np.floor(position))
    fraction = position - rank
    if rank + 1 >= effective:
        upper = draws.beta(effective, 1, size=resamples)
        return array[np.minimum((upper * count).astype(np.int64), count - 1)]
    upper = draws.beta(rank + 2, effective - rank - 1, size=resamples)
    lower = upper * draws.beta(rank + 1, 1, size=resamples)
    values_lower = array[np.minimum((lower * count).astype(np.int64), count - 1)]
    values_upper = array[np.minimum((upper * count).astype(np.int64), count - 1)]
    return _between(values_lower, values_upper, fraction)


def percentile_ratio(
    numerator: ArrayLike,
    denominator: ArrayLike,
    percent: float,
    *,
    block: int = 1,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Ratio of one percentile of two independent samples, with its bootstrap interval.

    A resample never exceeds the sample: where one is too small to bound its percentile from above, so is the
    ratio on that side, infinite above or zero below. Where both percentiles lie among trials that never
    ended, the ratio is nan. Values of a ``block`` may depend on each other, as in `percentile_interval`.

    Examples
    --------
    >>> ratio = percentile_ratio([30.0] * 50, [2.0] * 50, 90)
    >>> ratio
    Estimate(value=15.0, low=15.0, high=15.0)
    """
    top, bottom = _sorted_values(numerator), _sorted_values(denominator)
    value, reference = (_percentile_of_sorted(array, percent) for array in (top, bottom))
    sizes = []
    for values, middle in ((numerator, value), (denominator, reference)):
        beyond = np.asarray(values) > middle
        sizes.append(max(1.0, beyond.size / _design_effect(beyond, block=block, confidence=confidence)))
    draws = np.random.default_rng(seed)
    above = _resampled_percentiles(top, sizes[0], percent, draws, resamples)
    below = _resampled_percentiles(bottom, sizes[1], percent, draws, resamples)
    with np.errstate(invalid="ignore"):
        ratios = above / below
    miss = (1.0 - confidence) / 2.0
    # Where both never end, the ratio may be any number.
    low = percentile(np.nan_to_num(ratios, nan=0.0, posinf=np.inf), 100.0 * miss)
    high = percentile(np.nan_to_num(ratios, nan=np.inf, posinf=np.inf), 100.0 * (1.0 - miss))
    lacking = tuple(_lacking(size, percent, confidence) for size in sizes)
    if lacking[0] > 1.0:
        high = float("inf")
    if lacking[1] > 1.0:
        low = 0.0
    ratio = value / reference if min(value, reference) < np.inf else np.nan
    return Estimate(ratio, low, high, max(lacking))


def _lacking(count: float, percent: float, confidence: float) -> float:
    """By how many times more values the largest exceeds the percentile with that (two-sided) confidence.

    All of n values lie below it with the chance q^n.
    """
    below = percent / 100.0
    if not 0.0 < below < 1.0:
        return 1.0
    return max(1.0, math.log((1.0 - confidence) / 2.0) / math.log(below) / count)


def mean_interval(values: ArrayLike, *, block: int = 1, confidence: float = CONFIDENCE) -> Estimate:
    """Mean with Student's interval; a single value has an unbounded one.

    Trials of which some never ended have an infinite mean.

    Values of a ``block`` that follow each other may depend on each other: the interval then is that of the
    means of batches, as in `percentile_interval`.

    Examples
    --------
    >>> estimate = mean_interval([1.0, 2.0, 3.0])
    >>> round(estimate.low, 3), round(estimate.high, 3)
    (-0.484, 4.484)
    """
    array = _sorted_values(values)
    mean = float(array.mean())
    if np.isposinf(mean):
        return Estimate.exact(mean)
    if array.size == 1:
        return Estimate(mean, float("-inf"), float("inf"), 2.0)
    starts = np.arange(array.size) if block <= 1 else _batch_starts(array.size, block)
    sizes = np.diff(starts, append=array.size)
    off = np.add.reduceat(np.asarray(values, dtype=np.float64).ravel() - mean, starts)
    deviation = np.sqrt(np.sum(off**2) * starts.size / (starts.size - 1)) / sizes.sum()
    half = float(scipy.special.stdtrit(starts.size - 1, 1.0 - (1.0 - confidence) / 2.0) * deviation)
    return Estimate(mean, mean - half, mean + half)


def at_confidence(estimate: Estimate, confidence: float, *, parts: int) -> Estimate:
    """Student's interval of so many parts at another confidence than `CONFIDENCE`, at which it is given.

    Examples
    --------
    >>> at_confidence(Estimate(5.0, 4.0, 6.0), 0.95, parts=8)
    Estimate(value=5.0, low=4.0, high=6.0)
    >>> round(at_confidence(Estimate(5.0, 4.0, 6.0), 0.99, parts=8).high, 2)
    6.48
    """
    given, asked = (scipy.special.stdtrit(parts - 1, (1.0 + one) / 2.0) for one in (CONFIDENCE, confidence))
    times, value = float(asked / given), estimate.value
    return Estimate(value, value - times * (value - estimate.low), value + times * (estimate.high - value))


def binomial_interval(
    successes: int,
    trials: int,
    *,
    confidence: float = CONFIDENCE,
    method: Literal["clopper-pearson", "wilson"] = "clopper-pearson",
) -> Estimate:
    """Share of successes with its exact (Clopper-Pearson) or score (Wilson) interval.

    Examples
    --------
    >>> estimate = binomial_interval(0, 1000)
    >>> estimate.value, f"{estimate.high:.4f}"
    (0.0, '0.0037')
    """
    if trials <= 0 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials is not a binomial outcome")
    interval = intervals.wilson if method == "wilson" else intervals.clopper_pearson
    low, high = interval(events=successes, trials=trials, confidence=confidence)
    share = successes / trials
    # At 0 and 1 rounding can leave the score interval's exact end a hair inside.
    return Estimate(share, min(share, max(0.0, float(low))), max(share, min(1.0, float(high))))


def clustered_interval(
    events: int, trials: int, *, design_effect: float, batches: int = 0, confidence: float = CONFIDENCE
) -> Estimate:
    """Share of events that come in clusters, with the interval of `lossylink.statistics.intervals.clustered`.

    Examples
    --------
    >>> estimate = clustered_interval(10, 1000, design_effect=5)
    >>> estimate.value, f"{estimate.low:.4f} {estimate.high:.4f}"
    (0.01, '0.0012 0.0357')
    """
    low, high = intervals.clustered(
        events=events, trials=trials, design_effect=design_effect, batches=batches, confidence=confidence
    )
    return Estimate(events / trials, low, high)


def poisson_interval(events: int, exposure: float = 1.0, *, confidence: float = CONFIDENCE) -> Estimate:
    """Rate of rare events per unit of exposure with its exact (Garwood) interval.

    Examples
    --------
    >>> estimate = poisson_interval(10)
    >>> round(estimate.low, 2), round(estimate.high, 2)
    (4.8, 18.39)
    """
    if events < 0 or exposure <= 0:
        raise ValueError(f"{events} events in an exposure of {exposure} is not a Poisson outcome")
    low, high = intervals.poisson(events=events, exposure=exposure, confidence=confidence)
    return Estimate(events / exposure, float(low), float(high))


def zero_events_upper_bound(exposure: float, *, confidence: float = CONFIDENCE) -> float:
    """One-sided upper bound of a rate after zero events: about ``3 / exposure`` at 95 %.

    Examples
    --------
    >>> f"{zero_events_upper_bound(100_000_000):.2e}"
    '3.00e-08'
    """
    if exposure <= 0:
        raise ValueError(f"an exposure of {exposure} bounds nothing")
    return float(-np.log1p(-confidence)) / exposure


def survival(values: ArrayLike) -> tuple[Values, Values]:
    """Sorted values and the share of the sample that is at least as large (the complementary distribution).

    The largest value keeps the share 1 / n, so that a logarithmic axis shows it.

    Examples
    --------
    >>> survival([3.0, 1.0])
    (array([1., 3.]), array([1. , 0.5]))
    """
    array = _sorted_values(values)
    return array, np.arange(array.size, 0, -1, dtype=np.float64) / array.size
