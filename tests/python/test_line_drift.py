"""Readings of a line over time: a change, none, when a target is crossed, and how often that holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lossylink.cli.exits import MISTAKE
from lossylink.errors import UserError
from lossylink.measuring.fit import DOUBT
from lossylink.measuring.line import table
from lossylink.measuring.line.drift import Drift, History, crossing, drift_of, history_of
from lossylink.scenario.coded_line import read_coded_line
from lossylink.statistics.arguments import FloatArray
from lossylink.statistics.estimates import Estimate

from .conftest import Ended

Command = Callable[..., Ended]
RATE_BPS = 100 * 10**9
KP4 = read_coded_line("rs544", rate_bps=RATE_BPS)
HOUR_S, DAY_S = 3_600.0, 86_400.0
#: Scatter of the logarithm of a reading, as temperature makes it.
SCATTER = 0.1
LEVEL = 1e-5


def history(*, growth_a_day: float, seed: int, hours: int = 72, change_hour: int = 24) -> History:
    times: FloatArray = HOUR_S * np.arange(hours, dtype=np.float64)
    grown = growth_a_day / DAY_S * np.maximum(0.0, times - HOUR_S * change_hour)
    scatter = SCATTER * np.random.default_rng(seed).standard_normal(hours)
    ratios: FloatArray = LEVEL * np.exp(grown + scatter)
    return History(times, ratios)


def crossed(*, growth_a_day: float, change_hour: int, wanted: float) -> float:
    """Return the time at which such a line crosses a bit error ratio, in seconds."""
    return float(HOUR_S * change_hour + DAY_S * np.log(wanted / LEVEL) / growth_a_day)


def test_a_change_is_found_where_it_is() -> None:
    found = drift_of(history(growth_a_day=1.0, seed=1))
    assert found.is_change
    assert found.change_s == pytest.approx(24 * HOUR_S, abs=6 * HOUR_S)
    assert found.growth.contains(1.0 / DAY_S)
    assert found.now == pytest.approx(LEVEL * np.exp(71 / 24 - 1), rel=0.2)


def test_a_level_line_is_mistaken_as_rarely_as_the_test_says() -> None:
    count = 100
    wrong = sum(drift_of(history(growth_a_day=0.0, seed=seed)).is_change for seed in range(count))
    assert wrong <= stats.binom.ppf(1 - 1e-3, count, DOUBT)


def test_the_interval_of_the_crossing_holds() -> None:
    count, wanted = 60, 1e-4
    truth = crossed(growth_a_day=1.0, change_hour=24, wanted=wanted)
    covered = 0
    for seed in range(count):
        one = crossing(drift_of(history(growth_a_day=1.0, seed=seed)), wanted)
        assert one is not None
        covered += one.contains(truth)
    assert covered >= stats.binom.ppf(1e-3, count, 0.95)


def test_no_growth_tells_no_crossing() -> None:
    assert crossing(drift_of(history(growth_a_day=0.0, seed=2)), 1e-4) is None
    falling = drift_of(history(growth_a_day=-1.0, seed=2))
    assert falling.is_change
    assert crossing(falling, 1e-4) is None


def test_counters_become_ratios_between_readings() -> None:
    codewords = 1_000_000
    rows = [f"{at},{10 * at * 5_440},{codewords * at}" for at in range(10)]
    found = history_of(
        table.read_all("\n".join(["time_s,corrected_bits,bin_0", *rows]), "FILE"), KP4, rate_bps=RATE_BPS
    )
    assert found.times_s.tolist() == [at + 0.5 for at in range(9)]
    assert found.ratios == pytest.approx([10 / codewords] * 9)


def test_a_gauge_is_taken_as_it_is() -> None:
    rows = [f"{at},{1e-6 * (1 + at)}" for at in range(9)]
    found = history_of(table.read_all("\n".join(["time_s,pre_fec_ber", *rows]), "FILE"), KP4, rate_bps=1)
    assert found.times_s.tolist() == list(range(9))
    assert found.ratios[3] == pytest.approx(4e-6)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("corrected_bits,bin_0\n1,4\n2,5\n", "add a column time_s"),
        ("time_s,corrected_bits\n0,1\n0,2\n", "the times of a history ascend"),
        ("time_s,corrected_bits\n0,9\n60,2\n", "corrected_bits runs backwards, from 9 to 2"),
        ("time_s,corrected_bits\n0,1\n60,2\n", "1 intervals tell no drift; give at least 8"),
        ("time_s,uncorrectable\n0,1\n60,2\n", "no column of the history tells a bit error ratio"),
        ("time_s,corrected_bits\n" + "".join(f"{60 * at},5\n" for at in range(10)), "has no error at all"),
        ("time_s,corrected_bits\n0,-1\n", "a counter is never negative"),
    ],
)
def test_what_is_no_history_is_refused(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        history_of(table.read_all(text, "FILE"), KP4, rate_bps=RATE_BPS)


def test_a_history_becomes_a_scenario(command: Command, tmp_path: Path) -> None:
    found = history(growth_a_day=1.0, seed=3)
    rows = [f"{time},{ratio}" for time, ratio in zip(found.times_s, found.ratios, strict=True)]
    (tmp_path / "month.csv").write_text("\n".join(["time_s,pre_fec_ber", *rows]), encoding="utf-8")
    ended = command("fit", "--fec-history", "month.csv", "--target", "1e-10", "-o", "out")
    assert ended.code == 0, ended.err
    assert "the target is crossed in" in ended.out
    assert "(95 % interval" in ended.out
    told = json.loads((tmp_path / "out" / "measurement.json").read_text(encoding="utf-8"))["drift"]
    assert told["crossing_s"]["low"] < told["crossing_s"]["value"] < told["crossing_s"]["high"]
    assert told["target_bit_error_ratio"] == pytest.approx(3.07e-4, rel=1e-2)
    assert 'forward = "phy:code=rs544,ber=' in (tmp_path / "out" / "scenario.toml").read_text(
        encoding="utf-8"
    )


def test_a_level_history_says_that_it_cannot_tell(command: Command, tmp_path: Path) -> None:
    rows = "".join(f"{at},{1e-5 * (1 + 0.1 * (at % 3))}\n" for at in range(30))
    (tmp_path / "month.csv").write_text("time_s,pre_fec_ber\n" + rows, encoding="utf-8")
    ended = command("fit", "--fec-history", "month.csv", "-o", "out")
    assert ended.code == 0, ended.err
    assert "no change is told from the scatter of the readings" in ended.out
    assert "the readings do not tell when" in ended.out
    ended = command("fit", "--fec-history", "month.csv", "--target", "much")
    assert (ended.code, ended.err.count("\n")) == (MISTAKE, 1)
    assert "--target" in ended.err


def test_a_line_beyond_its_target_has_crossed_it(command: Command, tmp_path: Path) -> None:
    rows = "".join(f"{at},{1e-3 * (1 + 0.1 * (at % 3))}\n" for at in range(30))
    (tmp_path / "month.csv").write_text("time_s,pre_fec_ber\n" + rows, encoding="utf-8")
    assert "the target is crossed already" in command("fit", "--fec-history", "month.csv", "-o", "out").out


def test_few_readings_behind_a_change_have_an_interval_without_end() -> None:
    times = np.arange(12.0)
    values = np.where(times < 8, 1e-6, 1e-5) * np.exp(0.5 * np.cos(9 * times))
    found = Drift(History(times, values), 1e-3, 8.0, Estimate(0.01, 1e-9, 0.02), 1e-5)
    told = crossing(found, 1e-4)
    assert told is not None
    assert told.high == np.inf
