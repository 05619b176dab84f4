"""Thinning for the page: tails exact, extremes kept, budgets that add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossylink.charts.distribution import BULK_POINTS, EXACT_TAIL, thinned_series, thinned_survival
from lossylink.charts.link_budget import link_budget
from lossylink.statistics.estimates import survival

from .synthetic import stress_row


@pytest.mark.parametrize(
    "count", [1, EXACT_TAIL, EXACT_TAIL + BULK_POINTS, EXACT_TAIL + BULK_POINTS + 1, 100_000]
)
def test_the_tail_is_exact_and_the_rest_is_true(count: int) -> None:
    values = np.random.default_rng(count).exponential(size=count)
    x, share = thinned_survival(values)
    full_x, full_share = survival(values)
    assert x.size <= EXACT_TAIL + BULK_POINTS
    tail = min(count, EXACT_TAIL)
    assert np.array_equal(x[-tail:], full_x[-tail:])
    assert np.array_equal(share[-tail:], full_share[-tail:])
    truth = dict(zip(full_x.tolist(), full_share.tolist(), strict=True))
    assert all(truth[value] == level for value, level in zip(x.tolist(), share.tolist(), strict=True))
    assert x[0] == full_x[0]


@given(
    st.integers(min_value=1, max_value=5000), st.integers(min_value=1, max_value=50), st.integers(0, 2**32)
)
def test_thinning_a_series_keeps_its_extremes_and_order(count: int, buckets: int, seed: int) -> None:
    y = np.random.default_rng(seed).normal(size=count)
    x = np.arange(count, dtype=np.float64)
    thin_x, thin_y = thinned_series(x, y, buckets=buckets)
    assert thin_x.size <= max(2 * buckets, 1)
    assert (thin_y.min(), thin_y.max()) == (y.min(), y.max())
    assert np.all(np.diff(thin_x) > 0)
    assert np.array_equal(thin_y, y[thin_x.astype(int)])


@pytest.mark.parametrize("protection", ["lg", "lg-nb"])
def test_a_budget_adds_up_to_the_link(protection: str) -> None:
    row = stress_row(protection, 1_000_000)
    budget = link_budget(row, title="synthetic")
    assert budget is not None
    assert sum(part.gbps for part in budget.parts) == pytest.approx(row["link_gbps"])
    shares = {part.name: part.gbps for part in budget.parts}
    assert shares["protection header"] == pytest.approx(shares["frames"] * 3 / 1518)
    assert (shares["paused"] > 1.0) == (protection == "lg")


def test_an_overfull_link_has_no_negative_share() -> None:
    row = {**stress_row("lg", 1_000_000), "octets_data": 10**12}
    budget = link_budget(row, title="synthetic")
    assert budget is not None
    assert min(part.gbps for part in budget.parts) == 0.0
