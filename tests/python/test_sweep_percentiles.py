"""A point of a sweep keeps the intervals of its percentiles, though not its flows."""

from __future__ import annotations

import math
from pathlib import Path

import polars
import pytest

import lossylink

BURSTS = "gilbert-elliott:0.001,0.05"
"""A retransmission a timeout ends them: some flows never end."""
SHORT_BURSTS = "gilbert-elliott:0.001,0.3"


def closed(end: float) -> float | None:
    return end if math.isfinite(end) else None


@pytest.mark.parametrize(
    ("experiment", "column", "loss"), [("tcp-fct", "fct_us", BURSTS), ("workload", "slowdown", SHORT_BURSTS)]
)
def test_intervals_are_those_of_the_run(experiment: str, column: str, loss: str, tmp_path: Path) -> None:
    settings = {"flow.trials": 3_000}
    swept = lossylink.sweep(
        experiment, grid={"loss": [loss]}, protection=["none", "lg"], settings=settings, output=tmp_path
    )
    alone = lossylink.run(experiment, protection=["none", "lg"], settings={**settings, "loss.forward": loss})
    tail = alone.tail(column)
    for protection in ("none", "lg"):
        row = swept.rows.row(by_predicate=polars.col("protection") == protection, named=True)
        known = {
            one["percent"]: one for one in tail.filter(polars.col("protection") == protection).to_dicts()
        }
        for key, percent in (("p50", 50.0), ("p99", 99.0)):
            low, high = row[f"{column}_{key}_ci95"]
            assert (low, high) == (closed(known[percent]["low"]), closed(known[percent]["high"]))
            value, expected = row[f"{column}_{key}"], closed(known[percent]["value"])
            assert value == (expected if expected is None else pytest.approx(expected))
            assert value is None or low <= value <= (high or float("inf"))


def test_an_end_that_the_sample_does_not_reach_is_open(tmp_path: Path) -> None:
    swept = lossylink.sweep(
        "tcp-fct", grid={"loss": [SHORT_BURSTS]}, settings={"flow.trials": 3_200}, output=tmp_path
    )
    for low, high in swept.rows["fct_us_p99_9_ci95"].to_list():
        assert low > 0
        assert high is None


def test_a_sample_without_slower_flows_has_no_interval(tmp_path: Path) -> None:
    swept = lossylink.sweep("tcp-fct", grid={"loss": [1e-3]}, settings={"flow.trials": 200}, output=tmp_path)
    assert "fct_us_p50_ci95" in swept.rows.columns
    assert "fct_us_p99_ci95" not in swept.rows.columns
