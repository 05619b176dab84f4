"""Every rule by which a claim holds, fails or stays open, on both sides of its threshold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from lossylink.reproduce.framework.judging import (
    Bound,
    Edge,
    at_least,
    at_most,
    between,
    bounded,
    consistent,
    rare_events,
)
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Judgement, Need, Outcome
from lossylink.reproduce.framework.model import judge as verdict_of
from lossylink.statistics.estimates import Estimate

NOTHING = Finished({})
PLACE = ("a job", "none")


@pytest.mark.parametrize(
    ("estimate", "outcome"),
    [
        (Estimate(17.4, 15.0, 19.0), Outcome.HOLDS),
        (Estimate(16.1, 14.9, 17.8), Outcome.HOLDS),  # crosses 15 by less than a tenth
        (Estimate(16.1, 13.4, 17.8), Outcome.UNDECIDED),
        (Estimate(14.9, 13.0, 15.1), Outcome.UNDECIDED),
        (Estimate(14.0, 13.0, 14.9), Outcome.FAILS),
        (Estimate.exact(15.0), Outcome.HOLDS),
        (Estimate.exact(14.99), Outcome.FAILS),
        (Estimate(20.0, 16.0, math.inf), Outcome.HOLDS),
    ],
)
def test_a_lower_bound_with_slack(estimate: Estimate, outcome: Outcome) -> None:
    assert at_least(15.0, slack=0.1).outcome(estimate) is outcome


@pytest.mark.parametrize(
    ("estimate", "outcome"),
    [
        (Estimate(1.2, 1.1, 1.3), Outcome.HOLDS),
        (Estimate(1.2, 1.1, 1.31), Outcome.UNDECIDED),
        (Estimate(1.4, 1.25, 1.5), Outcome.UNDECIDED),
        (Estimate(1.4, 1.31, 1.5), Outcome.FAILS),
    ],
)
def test_an_upper_bound_without_slack(estimate: Estimate, outcome: Outcome) -> None:
    assert at_most(1.3).outcome(estimate) is outcome


def test_a_band_is_judged_at_both_ends() -> None:
    band = between(90.25, 94.25)
    assert band.outcome(Estimate.exact(90.25)) is Outcome.HOLDS
    assert band.outcome(Estimate.exact(90.24)) is Outcome.FAILS
    assert band.outcome(Estimate.exact(94.26)) is Outcome.FAILS
    assert band.outcome(Estimate(91.0, 89.0, 92.0)) is Outcome.UNDECIDED


ends = st.floats(min_value=-1e6, max_value=1e6)


@given(ends, ends, st.lists(ends, min_size=3, max_size=3))
def test_outcomes_follow_where_the_interval_lies(a: float, b: float, values: list[float]) -> None:
    bound = Bound(min(a, b), max(a, b))
    low, value, high = sorted(values)
    outcome = bound.outcome(Estimate(value, low, high))
    if outcome is Outcome.HOLDS:
        assert bound.low <= low
        assert high <= bound.high
    elif outcome is Outcome.FAILS:
        assert high < bound.low or low > bound.high
    else:
        assert outcome is Outcome.UNDECIDED
        assert low < bound.low or high > bound.high


@pytest.mark.parametrize(
    ("bound", "estimate", "times"),
    [
        # Outside: the end of the interval beyond the bound has to come back over it.
        (at_least(10.0), Estimate(8.0, 6.0, 12.0), 4.0),
        (at_most(10.0), Estimate(11.0, 8.0, 12.0), 9.0),
        # Inside: each end has to come within the range, and slack is room.
        (between(9.0, 12.0), Estimate(10.0, 7.0, 11.0), 9.0),
        (at_least(10.0, slack=0.1), Estimate(10.0, 8.0, 13.0), 4.0),
        (at_least(10.0), Estimate(10.0, 8.0, 13.0), math.inf),
        # A missing end waits for its rank, and says no more than that without one.
        (at_least(10.0), Estimate(12.0, 0.0, 14.0, 3.5), 3.5),
        (at_least(10.0), Estimate(12.0, -math.inf, math.inf), 2.0),
    ],
)
def test_the_trials_that_would_decide(bound: Bound, estimate: Estimate, times: float) -> None:
    assert bound.outcome(estimate) is Outcome.UNDECIDED
    assert bound.need(estimate).times == pytest.approx(times)


whole = st.integers(min_value=-1000, max_value=1000)


@given(whole, whole, st.lists(whole, min_size=3, max_size=3))
def test_an_interval_that_shrinks_as_it_should_decides(a: int, b: int, values: list[int]) -> None:
    bound = Bound(min(a, b), max(a, b))
    low, value, high = sorted(values)
    times = bound.need(Estimate(value, low, high)).times
    assert times >= 1.0
    if not math.isfinite(times):
        return
    shrunk = (1.0 - 1e-9) / math.sqrt(times)
    later = Estimate(value, value - shrunk * (value - low), value + shrunk * (high - value))
    assert bound.outcome(later) is not Outcome.UNDECIDED


def test_an_open_claim_says_what_it_needs_and_a_decided_one_does_not() -> None:
    def need(estimate: Estimate, edge: Edge | None = None) -> Need | None:
        return bounded(lambda _finished: estimate, at_least(10.0), edge=edge)(NOTHING).need

    assert need(Estimate(12.0, 8.0, 14.0)) == Need(times=4.0)
    assert need(Estimate(12.0, 11.0, 14.0)) is None
    assert need(Estimate(8.0, 7.0, 9.0)) is None
    edge = Edge(PLACE, 99.9, 1.1e-3)
    assert edge.need(0.95) == Need(trials=edge.trials(), place=PLACE)
    assert edge.need(0.995).trials == pytest.approx((2.807 / 2) ** 2 * edge.trials(), rel=1e-3)
    assert need(Estimate(12.0, 8.0, 14.0), edge) == Need(trials=edge.trials(), place=PLACE)


def test_a_reason_gives_published_and_own_figures_and_the_bound() -> None:
    judge = bounded(
        lambda _finished: Estimate(16.1, 14.9, 17.8), at_least(15.0, slack=0.1), published=17.4, unit="x"
    )
    judgement = judge(NOTHING)
    assert judgement.reason == "17.4x published, 16.1x [14.9, 17.8] here, accepted at least 15x"
    assert judgement.published == 17.4


def test_a_statement_that_is_wrong_is_refuted_and_the_truth_is_told() -> None:
    def judgement(value: float) -> Judgement:
        judge = bounded(lambda _finished: Estimate.exact(value), at_least(1.0), instead="it is RTT times")
        return judge(NOTHING)

    assert judgement(2.0).outcome is Outcome.HOLDS
    assert "RTT" not in judgement(2.0).reason
    assert judgement(0.5).outcome is Outcome.REFUTED
    assert judgement(0.5).reason.endswith("it is RTT times")


def test_a_percentile_at_the_edge_is_undecidable() -> None:
    def outcome(hit_share: float, value: Estimate) -> Outcome:
        judge = bounded(lambda _finished: value, at_least(40.0), edge=Edge(PLACE, 99.9, hit_share))
        return judge(NOTHING).outcome

    wide = Estimate(50.0, 1.0, 70.0)
    assert outcome(1048 / 2**20, wide) is Outcome.UNDECIDABLE  # 1.3e10 flows
    assert outcome(1.1e-3, wide) is Outcome.UNDECIDED  # 440,000 flows
    assert outcome(1e-3, wide) is Outcome.UNDECIDABLE
    assert outcome(1048 / 2**20, Estimate(50.0, 45.0, 70.0)) is Outcome.HOLDS


def test_the_flows_that_an_edge_takes() -> None:
    """Held against the binomial distribution: at that many flows the rank is on one side 19 times in 20."""
    edge = Edge(PLACE, 99.0, 0.012)
    flows = round(edge.trials())
    wrong = binom.cdf(0.01 * flows, flows, edge.hit_share)
    assert 0.01 < wrong < 0.04  # one-sided two standard deviations: 2.3 %


def test_a_set_up_that_is_as_configured_stands_apart() -> None:
    def outcome(value: float, basis: Basis) -> Outcome:
        claim = Claim("", bounded(lambda _: Estimate.exact(value), between(1.0, 1.0)), basis, "")
        return verdict_of(claim, NOTHING).judgement.outcome

    assert outcome(1.0, Basis.SET_UP) is Outcome.SET_UP
    assert outcome(2.0, Basis.SET_UP) is Outcome.FAILS
    assert outcome(1.0, Basis.THEORY) is Outcome.HOLDS


def test_consistency_is_membership_in_the_interval() -> None:
    assert consistent(lambda _finished: Estimate(1.0, 0.9, 1.1), 1.1)(NOTHING).outcome is Outcome.HOLDS
    assert consistent(lambda _finished: Estimate(1.0, 0.9, 1.1), 1.2)(NOTHING).outcome is Outcome.FAILS


@pytest.mark.parametrize(
    ("events", "exposure", "outcome"),
    [
        (0, 100_000_000, Outcome.HOLDS),
        (1, 100_000_000, Outcome.HOLDS),
        (2, 100_000_000, Outcome.FAILS),  # 0.1 expected: two are seen once in 200 runs
        (0, 99_999_999, Outcome.UNDECIDED),
    ],
)
def test_rare_events_need_the_published_exposure(events: int, exposure: int, outcome: Outcome) -> None:
    judge = rare_events(
        lambda _finished: (events, exposure),
        expected_rate=9.98e-10,
        published_exposure=100_000_000,
        noun="frames lost",
    )
    assert judge(NOTHING).outcome is outcome


def test_zero_events_are_told_as_an_upper_bound() -> None:
    judge = rare_events(
        lambda _finished: (0, 100_000_000), expected_rate=1e-9, published_exposure=1, noun="frames lost"
    )
    assert "at most 3.00e-8" in judge(NOTHING).reason
