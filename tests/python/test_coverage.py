"""Intervals of rows hold the truth as often as they say, where losses come together.

``benches/coverage.py`` counts 1,000 seeds of every kind of row; here are a few hundred of cheap ones.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

from lossylink import _native
from lossylink.running.complete_row import complete_row
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve
from lossylink.statistics.estimates import (
    binomial_interval,
    mean_interval,
    percentile_interval,
    percentile_ratio,
)
from lossylink.statistics.intervals import clustered

SEEDS = 200
LEAST = int(stats.binom.ppf(1e-4, SEEDS, 0.95))
"""Of intervals that are right, fewer than so many of the seeds cover once in 10,000 times."""
BURSTS = "gilbert-elliott:0.001,0.05"


def rows(protection: str, loss: str, frames: int, seeds: int = SEEDS) -> list[dict[str, Any]]:
    settings = {"loss": loss, "traffic.packets": frames}
    scenario = resolve("stress", settings=settings, protection=[protection], seed=1)
    (protected,) = scenario.protections
    found = []
    for seed in range(1, seeds + 1):
        given = configuration(scenario, protected) | {"seed": seed}
        native = _native.Simulation(json.dumps(given)).run()["row"]
        found.append(complete_row(scenario, protected, native, configuration=given, wall_seconds=1.0))
    return found


def covered(truth: float, found: list[dict[str, Any]]) -> int:
    return sum(row["effective_loss_ci95"][0] <= truth <= row["effective_loss_ci95"][1] for row in found)


def covered_if_independent(truth: float, found: list[dict[str, Any]]) -> int:
    return sum(
        binomial_interval(row["effective_lost_packets"], row["packets_sent"]).contains(truth) for row in found
    )


def block_loss(k: int, h: int, p: float) -> float:
    """Share of the data of blocks that stays lost: that of blocks which lose more than h of k + h frames."""
    lost = np.arange(h + 1, k + h + 1)
    return float((stats.binom.pmf(lost, k + h, p) * lost).sum() / (k + h))


@pytest.mark.parametrize("frames", [2_000, 20_000], ids=["few bursts", "many bursts"])
def test_bursts_of_the_link_are_covered(frames: int) -> None:
    """0.001 / 0.051 of the frames, in bursts of 20; an interval of single frames is 6.2 times too narrow."""
    found, truth = rows("none", BURSTS, frames), 0.001 / 0.051
    assert covered(truth, found) >= LEAST
    assert covered_if_independent(truth, found) < LEAST


def test_blocks_that_fail_are_covered() -> None:
    found, truth = rows("fec:5/5", "0.2", 20_000), block_loss(5, 5, 0.2)
    assert covered(truth, found) >= LEAST
    assert covered_if_independent(truth, found) < LEAST


@pytest.mark.parametrize("loss", ["1e-4", "1e-2"], ids=["few", "many"])
def test_independent_losses_keep_their_interval(loss: str) -> None:
    """It is a few per cent wider than the exact one, and no more where losses are many."""
    found = rows("none", loss, 20_000)
    assert covered(float(loss), found) >= LEAST
    many = [row for row in found if row["effective_lost_packets"] >= 100]
    wider = [
        (row["effective_loss_ci95"][1] - row["effective_loss_ci95"][0]) / (exact.high - exact.low)
        for row in many
        for exact in [binomial_interval(row["effective_lost_packets"], row["packets_sent"])]
    ]
    assert all(1.0 <= one < 1.5 for one in wider)
    assert not wider or float(np.mean(wider)) < 1.1


def test_none_lost_is_a_bound_that_knows_how_many_are_lost_at_once() -> None:
    (apart,), (together,) = (
        rows("none", loss, 100, seeds=1) for loss in ("1e-9", "gilbert-elliott:1e-9,0.05")
    )
    assert apart["effective_lost_packets"] == together["effective_lost_packets"] == 0
    assert apart["effective_loss_ci95"] == pytest.approx([0.0, 1 - 0.025 ** (1 / 100)])
    assert together["effective_loss_ci95"] == pytest.approx([0.0, 1 - 0.025 ** (20 / 100)], rel=1e-3)


def test_the_interval_follows_from_the_row() -> None:
    (row,) = rows("fec:5/5", "0.2", 20_000, seeds=1)
    of_row = clustered(
        events=row["effective_lost_packets"],
        trials=row["packets_sent"],
        design_effect=row["effective_loss_design_effect"],
        batches=row["effective_loss_batches"],
    )
    assert row["effective_loss_ci95"] == pytest.approx(list(of_row))
    assert row["effective_loss_batches"] == 64


def alike(draws: np.random.Generator, blocks: int, each: int) -> np.ndarray:
    """Times of flows that share a fate in blocks: half of the logarithm is the block's."""
    own, shared = draws.standard_normal((blocks, each)), draws.standard_normal((blocks, 1))
    return np.asarray(np.exp(np.sqrt(0.5) * (own + shared)).ravel())


@pytest.mark.parametrize("percent", [50, 90])
def test_percentiles_of_flows_that_share_a_fate_are_covered(percent: float) -> None:
    """Times are log-normal with logarithms of variance 1."""
    truth, draws = float(np.exp(stats.norm.ppf(percent / 100))), np.random.default_rng(1)
    samples = [alike(draws, 40, 50) for _ in range(SEEDS)]
    assert sum(percentile_interval(one, percent, block=50).contains(truth) for one in samples) >= LEAST
    assert sum(percentile_interval(one, percent).contains(truth) for one in samples) < LEAST


def test_ratios_of_flows_that_share_a_fate_are_covered() -> None:
    draws = np.random.default_rng(2)
    pairs = [(3 * alike(draws, 40, 50), alike(draws, 40, 50)) for _ in range(SEEDS)]

    def count(block: int) -> int:
        return sum(percentile_ratio(*pair, 90, block=block, resamples=1_000).contains(3.0) for pair in pairs)

    assert count(50) >= LEAST
    assert count(1) < LEAST


def test_means_of_flows_that_share_a_fate_are_covered() -> None:
    draws = np.random.default_rng(3)
    samples = [np.log(alike(draws, 40, 50)) for _ in range(SEEDS)]
    assert sum(mean_interval(one, block=50).contains(0.0) for one in samples) >= LEAST
    assert sum(mean_interval(one).contains(0.0) for one in samples) < LEAST
