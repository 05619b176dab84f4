"""Sweeps: every combination, kept point by point, resumed, and refused before the first one begins."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

from lossylink import UserError, _native, load, sweep
from lossylink._package import code
from lossylink._package.writing import whole
from lossylink.cli.exits import INTERRUPTED
from lossylink.errors import RunError
from lossylink.running.sweeping import Sweep, shards

from .conftest import Ended

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


def test_rows_whose_checks_judge_nothing_are_written(tmp_path: Path) -> None:
    settings = {"run.duration": "1ms", "run.warmup": 0, "run.cooldown": 0, "traffic.source": "udp-smooth"}
    grid = {"traffic.rate": ["10M", "20M"]}
    result = sweep("fec", grid=grid, protection=["none"], settings=settings, output=tmp_path, threads=1)
    assert result.rows["checks"].to_list() == [{}, {}]
    assert polars.read_parquet(tmp_path / "rows.parquet")["checks"].to_list() == [None, None]


def forbid_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a finished point was run again")

    monkeypatch.setattr("lossylink.running.sweeping.task.run_scenario", forbidden)


def test_a_sweep_goes_on_where_it_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_small(tmp_path, loss=["0", "1e-3"])
    second = run_small(tmp_path, loss=["0", "1e-3", "1e-2"])
    assert (second.points, second.finished, second.resumed) == (3, 3, 2)
    forbid_running(monkeypatch)
    third = run_small(tmp_path, loss=["1e-2", "0"])
    assert third.resumed == 2
    assert third.rows.filter(polars.col("loss") == "0").equals(first.rows.filter(polars.col("loss") == "0"))


def test_nothing_of_the_clock_is_in_the_rows(tmp_path: Path) -> None:
    result = run_small(tmp_path, loss=["1e-3"])
    assert "packets_per_wall_second" not in result.rows.columns
    assert "packets_per_wall_second" in result.runs()[0].rows.columns, "it is kept with the point"


def test_points_of_other_code_are_not_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_small(tmp_path, loss=["0", "1e-3"])
    for module in ("points", "running", "task"):
        monkeypatch.setattr(f"lossylink.running.sweeping.{module}.code", lambda: "0.1.0+other")
    assert run_small(tmp_path, loss=["0", "1e-3"]).resumed == 0


def test_code_is_the_simulator_and_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.py").write_text("a = 1\n")
    (tmp_path / "native").write_bytes(b"1")
    monkeypatch.setattr(code, "_PACKAGE", tmp_path)
    monkeypatch.setattr(_native, "__file__", str(tmp_path / "native"))
    words = [code.code.__wrapped__()]
    (tmp_path / "one.py").write_text("a = 2\n")
    words.append(code.code.__wrapped__())
    (tmp_path / "native").write_bytes(b"2")
    words.append(code.code.__wrapped__())
    (tmp_path / "one.py").rename(tmp_path / "two.py")
    words.append(code.code.__wrapped__())
    assert len(set(words)) == 4
    assert words[3] == code.code.__wrapped__()


def test_a_point_is_known_by_what_it_says_and_not_by_how(tmp_path: Path) -> None:
    run_small(tmp_path, loss=["0.1%"])
    assert run_small(tmp_path, loss=["1e-3"]).resumed == 1


def test_a_point_is_known_by_its_name_and_not_by_its_file(tmp_path: Path) -> None:
    run_small(tmp_path, loss=["0", "1e-2"])
    (shard,) = (tmp_path / "points").glob("*.parquet")
    names = polars.read_parquet(shard)["point"]
    swapped = polars.read_parquet(shard).with_columns(names.reverse().alias("point"))
    swapped.write_parquet(shard.with_name("other.parquet"))
    shard.unlink()
    assert run_small(tmp_path, loss=["0", "1e-2"]).rows["effective_lost_packets"].to_list()[1] == 0
    shutil.rmtree(tmp_path / "points")
    again = run_small(tmp_path, loss=["0", "1e-2"])
    assert again.resumed == 0
    assert (again.rows["effective_lost_packets"] > 0).to_list() == [False, True]


@pytest.mark.parametrize("kept", [0, 1, 100])
def test_a_shard_that_was_cut_short_is_none(tmp_path: Path, kept: int) -> None:
    first = run_small(tmp_path, loss=["0", "1e-2"])
    (victim,) = (tmp_path / "points").glob("*.parquet")
    victim.write_bytes(victim.read_bytes()[:kept])
    again = run_small(tmp_path, loss=["0", "1e-2"])
    assert again.resumed == 0
    assert again.rows.equals(first.rows)


def test_shards_become_one(tmp_path: Path) -> None:
    first = run_small(tmp_path, seed=list(range(40)))
    assert len(list((tmp_path / "points").iterdir())) == 1
    assert run_small(tmp_path, seed=list(range(41))).resumed == 40
    assert len(list((tmp_path / "points").iterdir())) == 1
    assert run_small(tmp_path, seed=list(range(40))).rows.equals(first.rows)


def test_another_client_may_put_shards_together_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_small(tmp_path, seed=[1])
    folder = tmp_path / "points"
    (one,) = folder.iterdir()
    listed = iter([[folder / "gone.parquet"], [one]])
    monkeypatch.setattr(shards, "paths", lambda _folder, prefix="": next(listed))
    assert len(shards.read(folder)) == 1


def test_what_dead_writers_left_goes_when_it_is_old(tmp_path: Path) -> None:
    run_small(tmp_path, seed=[1])
    young, old = (tmp_path / "points" / f".{name}.partial" for name in ("young", "old"))
    young.touch()
    old.touch()
    os.utime(old, (0, 0))
    run_small(tmp_path, seed=[1])
    assert young.exists()
    assert not old.exists()


def test_partial_files_of_two_machines_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers on one file system may agree on the number of a process, and even on the name of a host."""
    names = set()
    for host in ("one", "two.example", "two.example"):
        monkeypatch.setattr("socket.gethostname", lambda host=host: host)
        with whole(tmp_path / "shard") as partial:
            names.add(partial.name)
            partial.write_text("a")
    assert len(names) == 3
    assert all(str(os.getpid()) in name for name in names)


def test_a_single_point_gets_its_tables_later(tmp_path: Path) -> None:
    """One shard is not compacted, and its point has no tables: it counts for nothing then."""
    for trials in (False, True):
        swept = sweep(
            "tcp-fct",
            grid={"loss": ["1e-2"]},
            protection="lg",
            settings={"flow.trials": 50},
            output=tmp_path,
            trials=trials,
        )
        assert (swept.finished, swept.resumed) == (1, 0)
    assert polars.read_parquet(tmp_path / "trials.parquet").height == 50


def test_tables_are_kept_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def swept(*, trials: bool, losses: tuple[str, ...] = ("1e-3", "1e-2")) -> Sweep:
        return sweep(
            "tcp-fct",
            grid={"loss": losses},
            protection=["none", "lg"],
            settings={"flow.trials": 50},
            output=tmp_path,
            trials=trials,
        )

    plain = swept(trials=False)
    assert plain.runs()[0].tables == {}
    kept = swept(trials=True)
    assert kept.resumed == 0, "they had no tables"
    table = polars.read_parquet(tmp_path / "trials.parquet")
    assert table.columns[:3] == ["loss", "protection", "fct_us"]
    assert table.height == 200
    assert (
        json.loads(polars.read_parquet_metadata(tmp_path / "trials.parquet")["lossylink.units"])["fct_us"]
        == "us"
    )
    runs = kept.runs()
    assert [run.tables["trials"].height for run in runs] == [100, 100]
    assert polars.concat([run.tables["trials"] for run in runs]).equals(table.drop("loss"))
    forbid_running(monkeypatch)
    assert swept(trials=True).resumed == 2
    assert swept(trials=False).resumed == 2
    shutil.copy(tmp_path / "trials.parquet", tmp_path / "before")
    swept(trials=True, losses=("1e-2", "1e-3"))
    assert (tmp_path / "trials.parquet").read_bytes() != (tmp_path / "before").read_bytes()
    swept(trials=True)
    assert (tmp_path / "trials.parquet").read_bytes() == (tmp_path / "before").read_bytes()


def failing(monkeypatch: pytest.MonkeyPatch, seeds: set[int], error: Exception) -> None:
    """Let points of these seeds fail."""
    from lossylink.running.runner import run_scenario as honest

    def run(scenario: Any, **keywords: Any) -> Any:
        if scenario.seed in seeds:
            raise error
        return honest(scenario, **keywords)

    monkeypatch.setattr("lossylink.running.sweeping.task.run_scenario", run)


def test_a_point_that_fails_is_a_row_with_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def swept(keep_going: bool) -> Sweep:
        grid = {"seed": [1, 2, 3, 4]}
        return sweep(
            "stress",
            grid=grid,
            protection="lg",
            settings=SETTINGS,
            output=tmp_path,
            threads=1,
            keep_going=keep_going,
        )

    failing(monkeypatch, {2, 4}, RunError("it broke"))
    result = swept(keep_going=True)
    assert (result.points, result.finished, len(result.failed)) == (4, 2, 2)
    assert result.rows.select("seed", "protection", "error").rows() == [
        (1, "lg", None),
        (2, "lg", "it broke"),
        (3, "lg", None),
        (4, "lg", "it broke"),
    ]
    loaded = load(tmp_path)
    assert isinstance(loaded, Sweep)
    assert loaded.failed == result.failed
    assert "of 4 points" in str(loaded)
    assert len(loaded.runs()) == 2
    failing(monkeypatch, {4}, ZeroDivisionError("division by zero"))
    second = swept(keep_going=True)
    assert second.resumed == 2, "points that failed are tried again"
    assert list(second.failed.values()) == ["ZeroDivisionError: division by zero"]
    with pytest.raises(RunError, match="the point seed=4 failed: ZeroDivisionError.*--keep-going"):
        swept(keep_going=False)
    failing(monkeypatch, set(), RunError(""))
    last = swept(keep_going=False)
    assert (last.resumed, last.failed) == (3, {})
    assert "error" not in last.rows.columns


def test_a_failure_loses_no_other_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, {3}, RunError("it broke"))
    with pytest.raises(RunError, match="seed=3"):
        run_small(tmp_path, seed=[1, 2, 3])
    failing(monkeypatch, set(), RunError(""))
    assert run_small(tmp_path, seed=[1, 2, 3]).resumed == 2


def test_a_mistake_of_the_user_ends_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, {2}, UserError("no such thing; write another"))
    with pytest.raises(UserError, match="no such thing"):
        sweep(
            "stress",
            grid={"seed": [1, 2, 3]},
            protection="none",
            settings=SETTINGS,
            output=tmp_path,
            keep_going=True,
        )


def test_zipped_keys_advance_together(tmp_path: Path) -> None:
    result = sweep(
        "stress",
        grid={"seed": [1, 2]},
        zipped={"link.rate": ["25G", "100G"], "loss": ["1e-3", "1e-2"]},
        protection="none",
        settings=SETTINGS,
        output=tmp_path,
    )
    assert result.rows.select("seed", "link.rate", "loss").rows() == [
        (1, "25G", "1e-3"),
        (1, "100G", "1e-2"),
        (2, "25G", "1e-3"),
        (2, "100G", "1e-2"),
    ]
    loaded = load(tmp_path)
    assert isinstance(loaded, Sweep)
    assert (loaded.grid, loaded.zipped) == (result.grid, ("link.rate", "loss"))


def test_a_point_that_is_asked_for_twice_is_run_once(tmp_path: Path) -> None:
    told: list[tuple[float, float]] = []
    rows: list[dict[str, Any]] = []
    result = sweep(
        "stress",
        grid={"loss": ["0.1%", "1e-3"]},
        protection="none",
        settings=SETTINGS,
        output=tmp_path,
        progress=lambda done, total: told.append((done, total)),
        watch=lambda _experiment, ended: rows.extend(ended),
    )
    assert (result.points, result.finished) == (1, 1)
    assert result.rows["loss"].to_list() == ["0.1%"]
    assert told == [(1, 1)]
    assert [row["loss"] for row in rows] == ["0.1%"]
    assert result.repeats == "a point is given twice and runs once: loss=1e-3 is loss=0.1%"


def test_points_are_equal_after_reading_and_not_as_text(tmp_path: Path) -> None:
    grid: dict[str, list[Any]] = {"loss": ["1e-3", "0.001", "1e-4"], "link.rate": ["25G", "25Gbps", "100G"]}
    result = sweep("stress", grid=grid, protection="none", settings=SETTINGS, output=tmp_path)
    assert (result.points, result.rows.height) == (4, 4)
    assert result.repeats == "5 points are given again and run once: link.rate=25Gbps is link.rate=25G, ..."
    assert not run_small(tmp_path / "other", loss=["1e-3", "1e-4"]).repeats


def test_a_repeated_point_is_told_in_one_line(command: Callable[..., Ended]) -> None:
    words = ("sweep", "stress", "-g", "loss=1e-3,0.001", "-p", "none", "-s", "traffic.packets=1000")
    ended = command(*words, "--output", "kept")
    assert ended.out.count("a point is given twice and runs once: loss=0.001 is loss=1e-3\n") == 1
    assert "1 of 1 points" in ended.out


def test_a_directory_of_an_earlier_version_is_named(tmp_path: Path) -> None:
    (tmp_path / "points").mkdir()
    (tmp_path / "points" / "0123.json").write_text("{}")
    with pytest.raises(UserError, match="is of an earlier version.*choose another --output"):
        run_small(tmp_path, loss=["0"])
    (tmp_path / "summary.json").write_text(json.dumps({"grid": {}, "rows": [], "names": []}))
    with pytest.raises(UserError, match="is of an earlier version; sweep into another directory"):
        load(tmp_path)


def test_the_runs_of_a_sweep_are_those_that_were_asked_for(tmp_path: Path) -> None:
    run_small(tmp_path, loss=["0.1%"], protection=["none", "lg"])
    # One of these points in other words; the directory has the one of another protection, too.
    result = run_small(tmp_path, loss=["1e-3"])
    assert result.resumed == 1
    for swept in (result, load(tmp_path)):
        assert isinstance(swept, Sweep)
        assert [run.rows["protection"].to_list() for run in swept.runs()] == [["none"]]


def test_ctrl_c_keeps_the_finished_points(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "lossylink", "sweep", "stress", "-p", "lg", "-g", "seed=1..3", "-g"]
    words += ["traffic.packets=1000,1_000_000_000", "--output", str(tmp_path), "--threads", "2"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while len(finished_in(tmp_path)) < 2:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    kept = len(finished_in(tmp_path))
    assert f"interrupted: kept {kept} of 6 points" in complaint
    assert json.loads((tmp_path / "summary.json").read_text())["interrupted"]


def test_a_killed_client_loses_no_finished_point(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "lossylink", "sweep", "stress", "-p", "lg", "-g", "seed=1..40"]
    words += ["-s", "traffic.packets=200k", "--output", str(tmp_path), "--threads", "1"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        while len(finished_in(tmp_path)) < 2:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    kept = len(finished_in(tmp_path))
    again = subprocess.run(words, capture_output=True, text=True, check=True)
    assert f"40 of 40 points, {kept} resumed" in again.stdout


def finished_in(folder: Path) -> set[str]:
    return set(shards.read(folder / shards.FOLDER))


@pytest.mark.parametrize("grid", [{}, {"loss": []}, {"loss": ["3"]}, {"seed": ["x"]}, {"nonsense": [1]}])
def test_a_bad_grid_is_refused_before_anything_is_written(tmp_path: Path, grid: dict[str, list[Any]]) -> None:
    with pytest.raises(UserError):
        sweep("stress", grid=grid, output=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
