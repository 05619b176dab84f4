"""What kind losses are: each kind is found, and none where it is not, as often as the tests claim."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import lossylink
from lossylink.measuring.fit import DOUBT, QUESTIONS, Kind, fit
from lossylink.measuring.outcome import FIGURES
from lossylink.measuring.record import Record
from lossylink.measuring.regularity import kept_apart, repeating
from lossylink.theory.bursts import Chain

from .conftest import Ended
from .test_measuring_fit import UNLIKELY, draw

Command = Callable[..., Ended]
SEEDS = 200
LEVELS = (0.05, DOUBT)
#: Records without a period, and without losses that keep apart.
MEMORYLESS = {
    "dense": (Chain.without_memory(0.5), 4_000),
    "usual": (Chain.without_memory(0.02), 10_000),
    "sparse": (Chain.without_memory(3e-3), 20_000),
}
BURSTY = {
    "long": (Chain(to_bad=1e-2, to_good=0.05), 20_000),
    "short": (Chain(to_bad=5e-3, to_good=0.4), 20_000),
    "thin": (Chain(to_bad=2e-3, to_good=0.02, loss_bad=0.3), 30_000),
    "slow": (Chain(to_bad=1e-3, to_good=2e-3, loss_bad=0.1, loss_good=0.01), 30_000),
}


def false_alarms(chances: list[float], level: float) -> float:
    """The chance of at least so many chances below a level if each is below it as rarely as it says."""
    return float(stats.binom.sf(sum(one < level for one in chances) - 1, len(chances), level))


def counter(period: int, *, width: int = 1, cycles: int = 200, phase: int = 0) -> np.ndarray:
    """Marks of a counter that loses so many frames of each period."""
    return (np.arange(period * cycles) + phase) % period < width


@pytest.mark.parametrize("name", MEMORYLESS)
def test_independent_losses_neither_repeat_nor_keep_apart(name: str) -> None:
    chain, frames = MEMORYLESS[name]
    records = [draw(chain, frames, seed) for seed in range(SEEDS)]
    found = [repeating(record) for record in records]
    assert all(one is not None for one in found)
    apart = [kept_apart(record) for record in records]
    for level in LEVELS:
        assert false_alarms([one.p_value for one in found if one is not None], level) > UNLIKELY
        assert false_alarms(apart, level) > UNLIKELY


@pytest.mark.parametrize("name", BURSTY)
def test_bursts_neither_repeat_nor_keep_apart(name: str) -> None:
    """Bursts have a spectrum that is not flat, and no line in it."""
    chain, frames = BURSTY[name]
    records = [draw(chain, frames, seed) for seed in range(SEEDS)]
    found = [one for one in map(repeating, records) if one is not None]
    assert len(found) > SEEDS / 2
    for level in LEVELS:
        assert false_alarms([one.p_value for one in found], level) > UNLIKELY
    assert min(map(kept_apart, records)) > DOUBT


@settings(max_examples=40)
@given(
    period=st.integers(2, 300),
    data=st.data(),
    kept=st.floats(0.6, 1.0),
    seed=st.integers(0, 10_000),
)
def test_a_counter_is_found_with_its_period(period: int, data: st.DataObject, kept: float, seed: int) -> None:
    """Whatever its width and its beginning, and though it spares some of its turns."""
    width = data.draw(st.integers(1, min(20, period - 1)))
    phase = data.draw(st.integers(0, period - 1))
    marks = counter(period, width=width, cycles=120, phase=phase)
    turns = np.random.default_rng(seed).random(120 + 1) < kept
    marks &= turns[(np.arange(marks.size) + phase) // period]
    found = fit(Record(marks))
    assert found.decision.kind is Kind.PERIODIC
    assert found.decision.period_frames == period
    assert (found.decision.p_value or 0.0) < DOUBT
    assert found.is_rejected


@pytest.mark.parametrize("late_frames", [0, 50, 250])
def test_a_slot_that_comes_a_little_early_or_late_is_a_period(late_frames: int) -> None:
    turns = np.arange(1, 201) * 1000
    at = turns + np.random.default_rng(3).integers(-late_frames, late_frames + 1, turns.size)
    marks = np.zeros(202_000, dtype=np.bool_)
    marks[at] = True
    decision = fit(Record(marks)).decision
    assert (decision.kind, decision.period_frames) == (Kind.PERIODIC, 1000.0)


def test_a_period_among_independent_losses_is_found() -> None:
    marks = counter(500, cycles=400) | (np.random.default_rng(5).random(200_000) < 2e-3)
    decision = fit(Record(marks)).decision
    assert (decision.kind, decision.period_frames) == (Kind.PERIODIC, 500.0)


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_that_turns_back_at_once_keeps_its_losses_apart_and_is_the_model(seed: int) -> None:
    """With p + r = 1.3 two losses never follow each other, and the chain says so: nothing is rejected."""
    found = fit(draw(Chain(to_bad=0.3, to_good=1.0), 4_000, seed))
    assert found.decision.kind is Kind.APART
    if not found.is_rejected:  # one in a hundred sound fits is
        assert "the model fits" in found.verdict
        p, r = (found.parameters[name] for name in ("p", "r"))
        assert p.low - 0.02 <= 0.3 <= p.high + 0.02
        assert r.high == 1.0
    assert seed or not found.is_rejected


@pytest.mark.parametrize("seed", range(3))
def test_a_dead_time_after_each_loss_is_no_chain_and_no_period(seed: int) -> None:
    distances = 100 + np.random.default_rng(seed).geometric(0.01, 400)
    marks = np.zeros(int(distances.sum()) + 1, dtype=np.bool_)
    marks[np.cumsum(distances)] = True
    found = fit(Record(marks))
    assert found.decision.kind is Kind.APART
    assert found.is_rejected
    assert found.verdict.endswith("replay the trace")


def test_kinds_of_random_records_are_right_as_often_as_is_said() -> None:
    """All tests are wrong about 1 of 100 independent records, and the test of the fit about 1 more."""
    usual = Chain.without_memory(0.02)
    kinds = [fit(draw(usual, 6_000, seed)).decision.kind for seed in range(30)]
    wrong = sum(kind is not Kind.INDEPENDENT for kind in kinds)
    assert stats.binom.sf(wrong - 1, len(kinds), 2 * DOUBT) > UNLIKELY
    bursts = [fit(draw(BURSTY["short"][0], 20_000, seed)).decision.kind for seed in range(5)]
    assert set(bursts) == {Kind.BURSTY}


def test_a_chance_counts_as_often_as_tests_are_made() -> None:
    marks = draw(Chain(to_bad=0.02, to_good=0.4), 5_000, 1)
    found = fit(marks)
    assert found.p_value is not None
    assert found.decision.p_value == QUESTIONS * found.p_value


@pytest.mark.parametrize(
    ("marks", "period", "lost"),
    [("00001" * 20_000, 5, 20_000), ("01" * 5_000, 2, 5_000), (("1" * 5 + "0" * 95) * 2_000, 100, 10_000)],
)
def test_what_repeats_is_replayed_and_has_no_advice_of_a_model(
    marks: str, period: int, lost: int, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "a.trace").write_text(marks)
    ended = command("fit", "a.trace", "-o", "fitted")
    assert ended.code == 0, ended.err
    assert f"losses come again every {period} frames" in ended.out
    assert "bursts" not in ended.out
    assert "gilbert-elliott" not in ended.out
    assert "--loss trace:fitted/forward.trace " in ended.out
    found = json.loads((tmp_path / "fitted" / FIGURES).read_text())["directions"]["forward"]
    assert (found["kind"], found["period_frames"], found["loss"]) == (
        "periodic",
        period,
        "trace:forward.trace",
    )
    settings_ = {"traffic.packets": len(marks)}
    row = lossylink.run(str(tmp_path / "fitted" / "scenario.toml"), settings=settings_).rows.row(
        0, named=True
    )
    assert row["effective_lost_packets"] == lost
