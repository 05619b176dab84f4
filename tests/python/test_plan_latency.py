"""Latencies of plans, from offer to delivery, and what a verification may say of rare losses."""

from __future__ import annotations

import random

import numpy as np
import pytest

from lossylink._native import design_effect
from lossylink.declared.protections.linkguardian import closed_forms
from lossylink.planning import Link, plan, verify
from lossylink.planning.families.linkguardian import delays
from lossylink.planning.families.linkguardian import prediction as lg_plan
from lossylink.planning.prediction import KEYS
from lossylink.planning.stress import latest_us, simulate
from lossylink.planning.verify import AGREES, DIFFERS, NOT_TESTABLE, Comparison
from lossylink.scenario.loss import Loss
from lossylink.statistics.intervals import clustered

from .planned_links import link


def worst_us(here: Link, protection: str) -> float:
    for prediction in plan(here, target=1e-4).predictions:
        if prediction.protection == protection:
            assert prediction.added_latency_us_worst.value is not None
            return prediction.added_latency_us_worst.value
    raise AssertionError(protection)


@pytest.mark.parametrize("rate_gbps", [10, 25, 100, 400])
@pytest.mark.parametrize("loss", ["1e-3", "1e-2", "gilbert-elliott:mean=1e-2,burst=3"])
def test_no_frame_is_later_than_the_worst(loss: str, rate_gbps: int) -> None:
    """Every frame counts, from offer to delivery: also those behind holes and at a paused sender."""
    here = link(loss, rate_gbps=rate_gbps)
    for prediction in plan(here, target=1e-4).predictions[1:]:
        bound = prediction.added_latency_us_worst.value
        assert bound is not None
        for seed in range(4):
            latest = latest_us(simulate(here, prediction.protection, packets=80_000, seed=seed))
            assert latest is not None
            assert 0 < latest <= bound, prediction.protection


def listed(positions: set[int], rate_gbps: int) -> Link:
    native = {"model": "at", "positions": sorted(positions)}
    return Link.losing(Loss.of(native), rate_bps=rate_gbps * 10**9, propagation_ps=0)


def given_up_us(rate_gbps: int) -> float:
    """The latest frame when a frame and its one copy are lost, whatever place it has."""
    latest = 0.0
    for copy in range(1_002, 1_130):
        row = simulate(listed({1_000, copy}, rate_gbps), "lg:copies=1", packets=3_000)
        if row["effective_lost_packets"] == 1:
            latest = max(latest, latest_us(row) or 0.0)
    return latest


@pytest.mark.parametrize("rate_gbps", [25, 100, 400])
def test_a_give_up_comes_near_the_bound_that_it_is_in(rate_gbps: int) -> None:
    """One hole that is waited for in vain, and nothing else: the bound without other holes."""
    here = Link(rate_bps=rate_gbps * 10**9, propagation_ps=0, loss_ratio=1e-8)
    bound = delays.ordered_worst_s(here, copies=1, loss_ratio=1e-16, together=(1.0, 1)) * 1e6
    seen = given_up_us(rate_gbps)
    assert 0.5 * bound < seen <= bound


def test_the_give_up_time_alone_is_more_than_a_retransmission() -> None:
    here = Link(rate_bps=10**11, propagation_ps=0, loss_ratio=1e-3)
    retransmission = delays.retransmission_worst_s(here, copies=2)
    ordered = delays.ordered_worst_s(here, copies=2, loss_ratio=1e-9, together=(1.0, 1))
    assert ordered > retransmission + 7.1e-6


@pytest.mark.parametrize("holes", [1, 3, 6])
def test_more_holes_stay_within_the_bound_for_as_many(holes: int) -> None:
    """Holes at random places of one window, against the bound of a link that has so many in a window."""
    draws = random.Random(holes)
    here = link("3e-2")
    options = closed_forms.Options(ordered=True, copies=1, unlimited_holes=True)
    left = lg_plan.loss_left(options, here)
    bound = delays.ordered_worst_s(here, copies=1, loss_ratio=left, together=(1.0, 1)) * 1e6
    for seed in range(25):
        positions = {1_000} | {1_000 + draws.randrange(1, 110) for _ in range(holes)}
        row = simulate(listed(positions, 100), "lg:copies=1,holes=unlimited", packets=3_000, seed=seed)
        assert (latest_us(row) or 0.0) <= bound


def by_quantity(comparisons: list[Comparison], protection: str) -> dict[str, Comparison]:
    return {one.quantity: one for one in comparisons if one.protection == protection}


def test_no_event_is_no_agreement() -> None:
    comparisons = verify(plan(link("1e-3"), target=1e-8), packets=50_000)
    assert {one.verdict for one in comparisons} <= {AGREES, NOT_TESTABLE}
    bare = by_quantity(comparisons, "none")["effective_loss_ratio"]
    rare = by_quantity(comparisons, "lg-nb:copies=2")["effective_loss_ratio"]
    assert bare.verdict == AGREES
    assert rare.verdict == NOT_TESTABLE
    assert rare.measured == 0.0
    assert rare.high is not None
    assert 1e-8 < rare.high < 1e-3


def test_without_a_corrupted_frame_no_latency_is_testable() -> None:
    comparisons = verify(plan(link("1e-7"), target=1e-10), packets=2_000)
    protected = by_quantity(comparisons, "lg-nb:copies=1")
    assert protected["added_latency_us_typical"].verdict == NOT_TESTABLE
    assert protected["added_latency_us_worst"].verdict == NOT_TESTABLE
    assert protected["effective_speed_gbps"].verdict == AGREES


def test_losses_that_should_not_be_there_are_noticed_even_if_none_was_expected() -> None:
    planned = plan(link("1e-6"), target=1e-10)
    elsewhere = type(planned)(**(planned.__dict__ | {"link": link("1e-2")}))
    found = by_quantity(verify(elsewhere, packets=50_000), "lg-nb:copies=1")["effective_loss_ratio"]
    assert found.verdict == DIFFERS


def test_a_verification_follows_every_frame() -> None:
    """The latest frame of the ordered mode is no corrupted one: parts of its way would not show it."""
    here = link("1e-3")
    row = simulate(here, "lg:copies=2", packets=200_000)
    assert latest_us(row) is not None
    assert (latest_us(row) or 0) > 3 * row["retx_delay_us_max"]
    comparisons = by_quantity(verify(plan(here, target=1e-8), packets=200_000), "lg:copies=2")
    assert comparisons["added_latency_us_worst"].measured == latest_us(row)
    assert set(comparisons) == set(KEYS)


class Coverage:
    """How often intervals at 95 % cover the truth in 2,000 trials."""

    TRIALS = 2_000
    BATCHES, BATCH_FRAMES = 64, 2_000

    def of(self, truth: float, lost: np.ndarray, foreseen: tuple[float, float]) -> float:
        covered = 0
        for counts in lost:
            batches = [(int(count), self.BATCH_FRAMES) for count in counts]
            factor, number = design_effect(batches, foreseen)
            low, high = clustered(
                events=int(counts.sum()),
                trials=self.BATCHES * self.BATCH_FRAMES,
                design_effect=factor,
                batches=number,
            )
            covered += low <= truth <= high
        return covered / len(lost)


@pytest.mark.parametrize("events", [0.5, 2, 5, 10, 100, 1_000])
@pytest.mark.parametrize("size", ["one", "block", "geometric"])
def test_intervals_know_that_losses_come_together(events: float, size: str) -> None:
    """Of clusters that come by a Poisson law, in any batch; 0.93 leaves a true 95 % four deviations."""
    coverage, draws = Coverage(), np.random.default_rng(int(events))
    clusters = draws.poisson(events / coverage.BATCHES, (coverage.TRIALS, coverage.BATCHES))
    if size == "one":
        lost, foreseen = clusters, (1.0, 1.0)
    elif size == "block":
        lost, foreseen = 10 * clusters, (10.0, 10.0)
    else:
        # Geometric sizes from 1 on: so many clusters, and a negative binomial number of losses more.
        more = draws.negative_binomial(np.maximum(clusters, 1), 0.2)
        lost, foreseen = np.where(clusters > 0, clusters + more, 0), (5.0, 9.0)
    truth = events * foreseen[0] / (coverage.BATCHES * coverage.BATCH_FRAMES)
    assert coverage.of(truth, lost, foreseen) >= 0.93


def test_many_clusters_tell_themselves_how_large_they_are() -> None:
    """Where blocks are many, it does not matter that single losses were foreseen."""
    coverage, draws = Coverage(), np.random.default_rng(3)
    lost = 10 * draws.poisson(200 / coverage.BATCHES, (coverage.TRIALS, coverage.BATCHES))
    truth = 2_000 / (coverage.BATCHES * coverage.BATCH_FRAMES)
    assert 0.93 <= coverage.of(truth, lost, (1.0, 1.0)) <= 0.97


def test_an_interval_of_single_losses_would_not_do() -> None:
    """The canary: intervals that take ten losses of a block for ten events cover far too seldom."""
    coverage, draws = Coverage(), np.random.default_rng(7)
    blocks = draws.poisson(20, coverage.TRIALS)
    trials = coverage.BATCHES * coverage.BATCH_FRAMES
    covered = 0
    for lost in 10 * blocks:
        low, high = clustered(events=int(lost), trials=trials, design_effect=1)
        covered += low <= 200 / trials <= high
    assert covered / coverage.TRIALS < 0.7


@pytest.mark.parametrize(
    "counts",
    [
        {"events": 3, "trials": 2, "design_effect": 1.0},
        {"events": 0, "trials": 0, "design_effect": 1.0},
        {"events": 3, "trials": 10, "design_effect": 0.0},
        {"events": 3, "trials": 10, "design_effect": float("nan")},
    ],
)
def test_counts_that_contradict_each_other_are_refused(counts: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="binomial|design effect"):
        clustered(**counts)  # type: ignore[arg-type]
