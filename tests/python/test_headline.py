"""The short table of a run or a sweep: what it shows, what it is held against, what fits a terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

import lossylink
from lossylink.cli.runs.tables import show_rows
from lossylink.declared.experiments import all_experiments
from lossylink.results.headline import headline
from lossylink.running.run import Run
from lossylink.statistics.estimates import percentile_ratio

from .conftest import Ended

ROW = {"protection": "none", "fct_us_p50": 88.0, "fct_us_p99_9": 2850.9, "flows_hit": 34, "trials": 4000}


def shown(rows: list[dict[str, object]], *, width: int, every_key: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show_rows("tcp-fct", rows, every_key=every_key, console=console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_what_goes_to_a_file_is_what_a_terminal_shows(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [ROW, ROW | {"protection": "lg", "fct_us_p99_9": 177.2, "trials": 500, "flows_unfinished": 3}]
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    show_rows("tcp-fct", rows)
    drawn = [line.rstrip() for line in shown(rows, width=width).splitlines()]
    assert capsys.readouterr().out.splitlines() == drawn


@pytest.mark.parametrize("name", sorted(all_experiments()))
def test_a_headline_is_short_and_has_units(name: str) -> None:
    """What is measured in something says in what; six columns, or seven where a study's trials need them."""
    columns = all_experiments()[name].headline
    assert 4 <= len(columns) <= 7
    for column in columns:
        has_unit = any(f"_{unit}" in column.key for unit in ("us", "ms", "gbps", "mbps", "kb_m", "bytes"))
        assert bool(column.unit) >= has_unit, column


def test_a_row_is_held_against_that_without_protection_in_the_same_place() -> None:
    rows = [
        ROW | {"loss.forward": loss, "protection": protection, "fct_us_p99_9": tail}
        for loss, protection, tail in (
            ("1e-3", "none", 2000.0),
            ("1e-3", "lg", 200.0),
            ("1e-2", "none", 4000.0),
            ("1e-2", "lg", 200.0),
        )
    ]
    table = headline("tcp-fct", rows, places=["loss.forward"])
    place = table.labels.index("/ none")
    assert table.labels[:2] == ("loss.forward", "protection")
    assert [row[place] for row in table.rows] == ["-", "0.1x", "-", "0.05x"]


def test_without_such_a_row_there_is_no_ratio() -> None:
    assert "/ none" not in headline("tcp-fct", [ROW | {"protection": "lg"}]).labels


def test_counts_are_whole_whatever_a_table_made_of_them() -> None:
    table = headline("tcp-fct", [ROW | {"flows_hit": 34.0, "trials": 2000.0}])
    assert table.rows[0][-1] == "34 of 2,000"


def test_no_loss_seen_is_an_upper_bound() -> None:
    row = {"protection": "lg", "effective_loss_rate": 0.0, "effective_loss_ci95": [0.0, 1.84e-5]}
    assert headline("stress", [row]).rows[0][1] == "< 1.8e-05"
    row = {"protection": "fec:25/5", "residual_loss_rate": 0.0, "frames_offered": 33666}
    assert headline("fec", [row]).rows[0][1] == "0 of 33,666"


@pytest.mark.parametrize("width", [30, 80])
def test_what_does_not_fit_is_named(width: int) -> None:
    rows = [ROW, ROW | {"protection": "lg", "fct_us_p99_9": 177.0}]
    lines = shown(rows, width=width).splitlines()
    assert max(len(line.rstrip()) for line in lines[:4]) <= width
    hidden = [label for label in ("p50", "p99.9", "hit") if label not in lines[0]]
    assert all(label in " ".join(lines[4:]) for label in hidden)
    assert bool(hidden) == (width < 60)


def ratios(run: Run) -> dict[str, str]:
    table = headline(run.experiment, run.records, sample=run.sample)
    place, ratio = (table.labels.index(label) for label in ("protection", "/ none"))
    return {row[place]: row[ratio] for row in table.rows}


@pytest.mark.parametrize(
    ("loss", "block"),
    [("1e-3", 1), ("gilbert-elliott:mean=1e-3,burst=2", 100), ("gilbert-elliott:mean=1e-3,burst=20ms", 100)],
)
def test_a_ratio_of_percentiles_has_its_interval(loss: str, block: int) -> None:
    settings = {"flow.trials": 20_000, "loss": loss}
    run = lossylink.run("tcp-fct", protection=["none", "lg"], settings=settings)
    times = {
        str(one): part["fct_us"].to_numpy() for (one,), part in run.tables["trials"].group_by("protection")
    }
    found = percentile_ratio(times["lg"], times["none"], 99.9, block=block)
    assert run.sample.block == block
    assert 0 < found.low <= found.value <= found.high
    assert ratios(run)["lg"] == f"{found.value:.2g}x ({found.low:.2g}-{found.high:.2g})"
    assert ratios(run)["none"] == "-"
    assert ratios(run)["lg"] in str(run)


def test_a_ratio_without_a_bounded_interval_stands_alone() -> None:
    run = lossylink.run("tcp-fct", protection=["none", "lg"], settings={"flow.trials": 3_000, "loss": "1e-3"})
    assert re.fullmatch(r"[\d.]+x", ratios(run)["lg"])
    assert re.fullmatch(r"[\d.]+x", headline(run.experiment, run.records).rows[1][4])


def test_a_ratio_that_is_no_percentile_has_no_interval() -> None:
    settings = {"traffic.packets": 1_000, "loss": "1e-2"}
    run = lossylink.run("stress", protection=["none", "lg"], settings=settings)
    assert re.fullmatch(r"[\d.]+x", ratios(run)["lg"])


@pytest.mark.parametrize(
    ("experiment", "settings", "block"),
    [
        ("tcp-fct", {"loss": "1e-3"}, 1),
        ("rdma-fct", {"loss": "1e-3"}, 1),
        ("tcp-fct", {"loss": "1e-3", "loss.reverse": "gilbert-elliott:mean=1e-3,burst=2"}, 100),
        ("tcp-fct", {"loss": "1e-3", "path.loss": "gilbert-elliott:mean=1e-3,burst=2"}, 100),
        ("workload", {"loss": "1e-3"}, 1_000),
    ],
)
def test_flows_that_share_bursts_or_a_link_are_no_independent_values(
    experiment: str, settings: dict[str, str], block: int
) -> None:
    run = lossylink.run(experiment, protection="none", settings=settings | {"flow.trials": 20})
    assert run.sample.block == block


def test_a_run_that_was_saved_has_the_ratios_that_it_had(tmp_path: Path) -> None:
    run = lossylink.run("tcp-fct", protection=["none", "lg"], settings={"flow.trials": 5_000, "loss": "1e-3"})
    assert "(" in ratios(run)["lg"]
    loaded = lossylink.load(run.save(tmp_path / "kept"))
    assert isinstance(loaded, Run)
    assert ratios(loaded) == ratios(run)


def test_every_key_is_there_on_request() -> None:
    rows = [ROW | {"protection": f"lg:copies={copies}"} for copies in range(1, 9)]
    text = shown(rows, width=160, every_key=True)
    assert all(text.count(key) == 2 for key in ROW if key != "protection")  # six columns, then two
    assert all(f"lg:copies={copies}" in text for copies in range(1, 9))


def test_a_percentile_that_few_flows_lie_beyond_is_no_figure() -> None:
    few = headline("tcp-fct", [ROW | {"trials": 2999}, ROW | {"trials": 2999, "protection": "lg"}])
    assert "few" in few.rows[0]
    assert "/ none" not in few.labels
    of_a_size = {"protection": "none", "trials": 4000, "flows_to_10kb": 2000, "slowdown_p99_9_to_10kb": 7.0}
    table = headline("workload", [of_a_size | {"slowdown_p99_9": 9.0}])
    cells = dict(zip(table.labels, table.rows[0], strict=True))
    assert (cells["p99.9"], cells["p99.9 to 10 KB"]) == ("9", "few")


def test_commands_end_with_it(command: Callable[..., Ended]) -> None:
    words = ("-p", "none", "-p", "lg", "--set", "flow.trials=3000")
    ended = command("run", "tcp-fct", *words)
    assert ended.code == 0
    assert "p99.9" in ended.out
    assert "/ none" in ended.out
    assert "fct_us_" not in ended.out
    assert "fct_us_p99_999" in command("run", "tcp-fct", *words, "--all").out
    ended = command("sweep", "tcp-fct", "--grid", "loss.forward=1e-3,1e-2", *words)
    assert ended.code == 0
    assert "p99.9" in ended.out
    assert "2 of 2 points" in ended.out
