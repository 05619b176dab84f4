"""Sweeps: every combination, kept point by point, resumed, and refused before the first one begins."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

from lossylink import UserError, load, sweep
from lossylink.sweeping import Sweep

SETTINGS = {"traffic.packets": 2_000}


def run_small(directory: Path, **grid: list[Any]) -> Any:
    named = {key.replace("__", "."): values for key, values in grid.items()}
    return sweep("stress", grid=named, protection=["none"], settings=SETTINGS, output=directory, threads=2)


def test_every_combination_has_its_rows(tmp_path: Path) -> None:
    result = run_small(tmp_path, link__rate=["25G", "100G"], protection=["none", "lg-nb"], seed=[1, 2])
    assert (result.points, result.finished, result.resumed, result.interrupted) == (8, 8, 0, False)
    assert result.rows.height == 8
    assert set(result.rows.select("link.rate", "protection", "seed").rows()) == {
        (rate, protection, seed)
        for rate in ("25G", "100G")
        for protection in ("none", "lg-nb")
        for seed in (1, 2)
    }
    assert polars.read_parquet(tmp_path / "rows.parquet").equals(result.rows)
    assert json.loads((tmp_path / "summary.json").read_text())["finished"] == 8


def test_a_sweep_goes_on_where_it_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_small(tmp_path, loss=["0", "1e-3"])
    second = run_small(tmp_path, loss=["0", "1e-3", "1e-2"])
    assert (second.points, second.finished, second.resumed) == (3, 3, 2)

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a finished point was run again")

    monkeypatch.setattr("lossylink.sweeping.run_scenario", forbidden)
    third = run_small(tmp_path, loss=["1e-2", "0"])
    assert third.resumed == 2
    wall = "packets_per_wall_second"
    assert (
        third.rows.filter(polars.col("loss") == "0")
        .drop(wall)
        .equals(first.rows.filter(polars.col("loss") == "0").drop(wall))
    )


def test_a_point_is_known_by_what_it_says_and_not_by_how(tmp_path: Path) -> None:
    run_small(tmp_path, loss=["0.1%"])
    assert run_small(tmp_path, loss=["1e-3"]).resumed == 1


def test_a_point_under_another_points_name_is_run_again(tmp_path: Path) -> None:
    run_small(tmp_path, loss=["0", "1e-2"])
    mine, other = sorted((tmp_path / "points").glob("*.json"))
    mine.write_bytes(other.read_bytes())
    again = run_small(tmp_path, loss=["0", "1e-2"])
    assert again.resumed == 1
    assert (again.rows["effective_lost_packets"] > 0).to_list() == [False, True]


@pytest.mark.parametrize("kept", [0, 1, 100])
def test_a_point_that_was_cut_short_is_run_again(tmp_path: Path, kept: int) -> None:
    run_small(tmp_path, loss=["0", "1e-2"])
    victim = min((tmp_path / "points").glob("*.json"))
    victim.write_bytes(victim.read_bytes()[:kept])
    assert run_small(tmp_path, loss=["0", "1e-2"]).resumed == 1


def test_the_runs_of_a_sweep_are_those_that_were_asked_for(tmp_path: Path) -> None:
    run_small(tmp_path, loss=["0.1%"])
    sweep("stress", grid={"loss": ["1e-3"]}, protection=["lg"], settings=SETTINGS, output=tmp_path, threads=1)
    # The same point in other words; the directory has one of another protection with the same grid.
    result = run_small(tmp_path, loss=["1e-3"])
    assert result.resumed == 1
    for swept in (result, load(tmp_path)):
        assert isinstance(swept, Sweep)
        assert [run.rows["protection"].to_list() for run in swept.runs()] == [["none"]]


def test_ctrl_c_keeps_the_finished_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lossylink import sweeping
    from lossylink.runner import run_scenario as honest

    def interrupted_later(scenario: Any, *, progress: Callable[[float, float], None]) -> Any:
        if scenario.seed == 3:
            raise KeyboardInterrupt
        return honest(scenario, progress=progress)

    monkeypatch.setattr(sweeping, "run_scenario", interrupted_later)
    with pytest.raises(KeyboardInterrupt):
        sweep(
            "stress",
            grid={"seed": [1, 2, 3]},
            protection=["none"],
            settings=SETTINGS,
            output=tmp_path,
            threads=1,
        )
    monkeypatch.setattr(sweeping, "run_scenario", honest)
    resumed = sweep(
        "stress", grid={"seed": [1, 2, 3]}, protection=["none"], settings=SETTINGS, output=tmp_path, threads=1
    )
    assert resumed.resumed == 2
    assert resumed.finished == 3


@pytest.mark.parametrize("grid", [{}, {"loss": []}, {"loss": ["3"]}, {"seed": ["x"]}, {"nonsense": [1]}])
def test_a_bad_grid_is_refused_before_anything_is_written(tmp_path: Path, grid: dict[str, list[Any]]) -> None:
    with pytest.raises(UserError):
        sweep("stress", grid=grid, output=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
