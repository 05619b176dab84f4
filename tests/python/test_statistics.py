"""Percentiles and intervals against known values, order properties and their own coverage."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from lossylink.statistics import estimates as statistics

samples = st.lists(st.floats(min_value=0.0, max_value=1e9), min_size=1, max_size=60)


def test_percentile_interpolates_between_ranks() -> None:
    # 5000 flows: the 99.9th percentile sits 0.001 of the way above the sixth largest value.
    values = np.arange(5000.0)
    assert statistics.percentile(values, 99.9) == pytest.approx(4994.001, abs=1e-9)


def test_describe_uses_the_sample_deviation() -> None:
    summary = statistics.describe([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])
    assert summary["std"] == pytest.approx(math.sqrt(32 / 7))
    assert (summary["min"], summary["mean"], summary["max"], summary["count"]) == (2.0, 5.0, 9.0, 8.0)


def test_an_empty_sample_and_nan_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        statistics.percentile([], 50)
    with pytest.raises(ValueError, match="nan"):
        statistics.describe([1.0, math.nan])


@given(samples, st.integers(0, 20), st.integers(0, 100_000).map(lambda thousandths: thousandths / 1000))
def test_what_never_ended_ranks_last(values: list[float], never: int, percent: float) -> None:
    """As if those trials took longer than any other: only what falls among them is infinite."""
    all_trials = [*values, *[math.inf] * never]
    found = statistics.percentile_interval(all_trials, percent)
    slow = [*values, *[1e300] * never]
    expected = statistics.percentile_interval(slow, percent)
    for one, other in zip(vars(found).values(), vars(expected).values(), strict=True):
        assert one == pytest.approx(other) or (math.isinf(one) and other > 1e9)


def test_ratios_rank_what_never_ended_last() -> None:
    fast, slow = [1.0] * 98 + [2.0] * 2, [3.0] * 90 + [math.inf] * 10
    assert statistics.percentile_ratio(slow, fast, 50).value == 3.0
    assert statistics.percentile_ratio(slow, fast, 99).value == math.inf
    assert statistics.percentile_ratio(fast, slow, 99) == statistics.Estimate(0.0, 0.0, math.inf)
    unknown = statistics.percentile_ratio(slow, slow, 99)
    assert (math.isnan(unknown.value), unknown.low, unknown.high) == (True, 0.0, math.inf)


def test_a_mean_over_what_never_ended_is_infinite() -> None:
    values = [1.0, 2.0, math.inf]
    assert statistics.mean_interval(values, block=2) == statistics.Estimate.exact(math.inf)
    summary = statistics.describe(values)
    assert [summary[key] for key in ("min", "mean", "max", "std")] == [1.0, math.inf, math.inf, math.inf]


@given(samples, st.floats(min_value=0.0, max_value=100.0))
def test_percentile_interval_encloses_its_value(values: list[float], percent: float) -> None:
    estimate = statistics.percentile_interval(values, percent)
    assert estimate.low <= estimate.value <= estimate.high


@given(samples, st.floats(min_value=0.0, max_value=100.0))
def test_a_percentile_is_that_of_numpy_to_the_last_bit(values: list[float], percent: float) -> None:
    assert statistics.percentile(values, percent) == float(np.percentile(values, percent))


@given(st.integers(1, 5000), st.floats(min_value=0.001, max_value=0.999))
def test_the_ranks_of_an_interval_are_those_of_the_binomial_law(count: int, quantile: float) -> None:
    estimate = statistics.percentile_interval(np.arange(1.0, count + 1.0), 100.0 * quantile)
    below = scipy.stats.binom.cdf(np.arange(count + 1), count, (100.0 * quantile) / 100.0)
    lower, upper = int(np.sum(below <= 0.025)), int(np.sum(below < 0.975)) + 1
    assert estimate.low == (min(lower, estimate.value) if lower else 0.0)
    assert estimate.high == (max(upper, estimate.value) if upper <= count else math.inf)


def test_percentile_interval_of_a_short_sample_is_open() -> None:
    estimate = statistics.percentile_interval(range(250), 99.9)
    assert math.isinf(estimate.high)
    assert estimate.low == 247.0  # P[3 of 250 beyond] is 0.2 %, P[2 of 250] 2.6 %


def test_percentile_interval_covers_the_truth_as_often_as_it_says() -> None:
    draws = np.random.default_rng(11)
    truth = -math.log(0.01)
    hits = sum(
        statistics.percentile_interval(draws.exponential(size=500), 99).contains(truth) for _ in range(400)
    )
    # At 95 % or more, 400 draws fall below 92 % less than once in 200 seeds; a rank off by one far below.
    assert hits >= 0.92 * 400


def test_percentile_ratio_agrees_with_a_plain_bootstrap() -> None:
    draws = np.random.default_rng(5)
    slow, fast = draws.lognormal(3.0, 0.5, 300), draws.lognormal(1.0, 0.5, 300)
    ratio = statistics.percentile_ratio(slow, fast, 90, seed=1)
    plain = [
        np.percentile(draws.choice(slow, 300), 90) / np.percentile(draws.choice(fast, 300), 90)
        for _ in range(2000)
    ]
    low, high = np.quantile(plain, [0.025, 0.975])
    assert ratio.low == pytest.approx(low, rel=0.05)
    assert ratio.high == pytest.approx(high, rel=0.05)


def test_a_percentile_ratio_is_open_where_a_sample_is_too_small() -> None:
    """At 99.9 % and 95 % confidence 3688 values bound a percentile from above, 3687 do not."""
    small, large = np.arange(1.0, 3688.0), np.arange(1.0, 3689.0)
    assert np.isinf(statistics.percentile_ratio(small, large, 99.9).high)
    assert statistics.percentile_ratio(small, large, 99.9).low > 0
    assert statistics.percentile_ratio(large, small, 99.9).low == 0
    assert np.isfinite(statistics.percentile_ratio(large, small, 99.9).high)


@pytest.mark.parametrize("percent", [99.9, 0.1])
@pytest.mark.parametrize("count", [100, 3687, 3688])
def test_an_interval_without_an_end_says_how_many_values_would_have_it(percent: float, count: int) -> None:
    short = statistics.percentile_interval(np.arange(1.0, count + 1.0), percent)
    assert short.lacking == pytest.approx(max(1.0, 3687.04 / count), rel=1e-4)
    enough = statistics.percentile_interval(np.arange(1.0, math.ceil(short.lacking * count) + 1.0), percent)
    assert enough.lacking == 1.0
    assert enough.low > 0
    assert np.isfinite(enough.high)


def test_another_confidence_widens_both_sides_alike() -> None:
    given = statistics.Estimate(5.0, 4.0, 7.0)
    wide = statistics.at_confidence(given, 0.995, parts=8)
    assert wide.high - wide.value == pytest.approx(2 * (wide.value - wide.low))
    assert (wide.high - 5.0) / 2.0 == pytest.approx(4.029 / 2.365, rel=1e-3)


def test_percentile_ratio_repeats_for_the_same_seed() -> None:
    first = statistics.percentile_ratio(range(1, 90), range(1, 40), 99.9, seed=3)
    assert first == statistics.percentile_ratio(range(1, 90), range(1, 40), 99.9, seed=3)


def test_binomial_intervals_match_published_values() -> None:
    # 10 of 100: Clopper-Pearson 0.0490-0.1762, Wilson 0.0552-0.1744 (Brown, Cai, DasGupta 2001).
    exact = statistics.binomial_interval(10, 100)
    score = statistics.binomial_interval(10, 100, method="wilson")
    assert (round(exact.low, 4), round(exact.high, 4)) == (0.0490, 0.1762)
    assert (round(score.low, 4), round(score.high, 4)) == (0.0552, 0.1744)


@given(st.integers(min_value=1, max_value=10**9), st.data(), st.sampled_from(["clopper-pearson", "wilson"]))
def test_binomial_interval_stays_inside_zero_and_one(trials: int, data: st.DataObject, method: str) -> None:
    successes = data.draw(st.integers(min_value=0, max_value=trials))
    estimate = statistics.binomial_interval(successes, trials, method=method)  # type: ignore[arg-type]
    assert 0.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="not a binomial"):
        statistics.binomial_interval(5, 4)
    with pytest.raises(ValueError, match="not a Poisson"):
        statistics.poisson_interval(-1)
    with pytest.raises(ValueError, match="bounds nothing"):
        statistics.zero_events_upper_bound(0)


def test_zero_events_bound_is_the_rule_of_three() -> None:
    assert statistics.zero_events_upper_bound(1000) == pytest.approx(3 / 1000, rel=0.002)
    assert statistics.poisson_interval(0, 1000).high == pytest.approx(3.689e-3, rel=1e-3)


def test_mean_interval_of_one_value_is_unbounded() -> None:
    assert math.isinf(statistics.mean_interval([4.0]).high)


def test_survival_keeps_the_largest_value_above_zero() -> None:
    values, shares = statistics.survival([5.0, 1.0, 3.0])
    assert values.tolist() == [1.0, 3.0, 5.0]
    assert shares.tolist() == pytest.approx([1.0, 2 / 3, 1 / 3])
