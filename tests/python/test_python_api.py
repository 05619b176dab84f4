"""lossylink from Python: asked as a Python programmer writes, with results that show themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import lossylink
from lossylink.errors import UserError
from lossylink.scenario.from_python import spelled
from lossylink.scenario.loss_function import listed

FEW = {"traffic.packets": 5000, "run.threads": 1}


def stress(protection: Any = "lg", **rest: Any) -> lossylink.Run:
    return lossylink.run("stress", protection=protection, settings=FEW | rest.pop("settings", {}), **rest)


def test_one_protection_may_be_a_word() -> None:
    assert stress("lg").rows["protection"].to_list() == ["lg"]
    assert stress(["lg", "none"]).rows["protection"].to_list() == ["lg", "none"]


def test_settings_may_lie_within_each_other_and_numbers_are_si() -> None:
    nested = stress(settings={"link": {"rate": 25e9, "propagation": 1e-6}})
    dotted = stress(settings={"link.rate": "25G", "link.propagation": "1us"})
    assert nested.rows.drop("packets_per_wall_second").equals(dotted.rows.drop("packets_per_wall_second"))
    assert nested.scenario["link"]["rate"] == "25Gbps"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"link": {"rate": 12_345_678_901}}, "12.345678901Gbps"),
        ({"link.rate": 400e9}, "400Gbps"),
        ({"run": {"duration": 0.1 + 0.2}}, "300ms"),
        ({"duration": 1e-12}, "1ps"),
        ({"timeline.protection": 3}, "3s"),
        ({"path.rtt": 0}, "0ps"),
        ({"link.length": 20}, "20m"),
        ({"switch": {"recirculation": 100e9}}, "100Gbps"),
    ],
)
def test_numbers_get_the_unit_of_their_key(settings: dict[str, Any], text: str) -> None:
    assert list(spelled(settings).values()) == [text]


def test_other_values_stay_as_they_are() -> None:
    values: dict[str, Any] = {
        "flow.trials": 100, "loss.forward": 1e-3, "flow.load": 0.5, "run.rare": True, "link.mtu": 1500,
        "link.rate": "10G", "no.such": 3,
    }  # fmt: skip
    assert spelled(values) == values


def test_mistakes_are_one_line() -> None:
    with pytest.raises(UserError, match=r"^'link\.rate' is set twice$"):
        spelled({"link": {"rate": 1e9}, "link.rate": 1e9})
    with pytest.raises(UserError, match=r"^link\.rate = -1Gbps: '-1Gbps' is negative"):
        stress(settings={"link.rate": -1e9})
    with pytest.raises(UserError, match=r"^unknown key 'link\.rat'; did you mean 'link\.rate'\?"):
        stress(settings={"link": {"rat": 1e9}})


def test_a_function_says_which_frames_are_lost() -> None:
    asked: list[int] = []

    def lose(frames: int, rng: np.random.Generator) -> Any:
        asked.append(frames)
        return rng.random(frames) < 0.01

    result = stress("none", loss=lose, seed=3)
    again = stress("none", loss=result.scenario["loss"]["forward"], seed=4)
    lost = result.rows["effective_lost_packets"][0]
    assert asked == [5000]
    assert 20 < lost < 90
    assert again.rows["effective_lost_packets"][0] == lost
    assert stress("none", loss=lose, seed=4).rows["effective_lost_packets"][0] != lost
    assert stress("none", loss=1e-2).rows["loss_rate"][0] == 0.01


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda n, _rng: np.zeros(n), "gave float64 of shape (10,); give bools of shape (10,)"),
        (lambda n, _rng: np.zeros(n + 1, dtype=bool), "gave bool of shape (11,)"),
    ],
)
def test_a_function_that_gives_something_else_is_refused(function: Any, words: str) -> None:
    with pytest.raises(UserError) as refused:
        listed(function, frames=10, seed=1)
    assert words in str(refused.value)


def test_a_function_that_loses_too_much_for_a_list_is_refused() -> None:
    with pytest.raises(UserError, match=r"loses 200,000 frames, and a list holds 100,000; write a file"):
        listed(lambda n, _rng: np.ones(n, dtype=bool), frames=200_000, seed=1)


def test_tails_count_what_lies_beyond() -> None:
    result = lossylink.run("tcp-fct", protection=["none", "lg"], settings={"flow.trials": 3000})
    tail = result.tail()
    times = result.tables["trials"].filter(polars.col("protection") == "none")["fct_us"].to_numpy()
    row = tail.filter((polars.col("protection") == "none") & (polars.col("percent") == 99.9)).row(
        0, named=True
    )
    assert row["value"] == pytest.approx(np.percentile(times, 99.9))
    assert (row["count"], row["beyond"]) == (3000, 3)
    assert row["low"] <= row["value"] <= row["high"]
    assert tail["protection"].unique(maintain_order=True).to_list() == ["none", "lg"]
    assert result.tail("retransmissions").height == tail.height
    with pytest.raises(UserError, match="has no column nope of trials: its trials have fct_us"):
        result.tail("nope")
    with pytest.raises(UserError, match="it has no trials; tcp-fct has them"):
        stress().tail()


def test_a_saved_run_is_loaded_as_it_was(tmp_path: Path) -> None:
    result = stress(["none", "lg"])
    loaded = lossylink.load(result.save(tmp_path / "one", with_csv=True))
    assert isinstance(loaded, lossylink.Run)
    assert loaded.summary() == result.summary()
    assert loaded.tables["series"].equals(result.tables["series"])
    kept = polars.read_csv(tmp_path / "one" / "rows.csv")
    assert kept["effective_loss_ci95_high"].to_list() == [
        pair[1] for pair in result.rows["effective_loss_ci95"]
    ]
    assert (tmp_path / "one" / "series.csv").is_file()


def test_a_sweep_is_a_frame_and_is_loaded_as_it_was(tmp_path: Path) -> None:
    swept = lossylink.sweep(
        "stress", grid={"link.rate": [25e9, 100e9]}, protection="lg", settings=FEW, output=tmp_path, threads=1
    )
    assert swept.frame.columns[:2] == ["link.rate", "protection"]
    assert swept.frame["link_gbps"].to_list() == [25.0, 100.0]
    assert not any(dtype.is_nested() for dtype in swept.frame.dtypes)
    loaded = lossylink.load(tmp_path)
    assert isinstance(loaded, lossylink.Sweep)
    assert loaded.frame.equals(swept.frame)
    assert [run.rows["link_gbps"][0] for run in loaded.runs()] == [25.0, 100.0]
    assert loaded.plot("link-speed").axes
    lossylink.sweep(
        "stress", grid={"link.rate": [25e9, 50e9]}, protection="lg", settings=FEW, output=tmp_path, threads=1
    )
    assert len(swept.runs()) == 2  # points of another grid in the same directory are not its own


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("nothing", None, "there is no "),
        ("empty", "", "holds no run; name a directory"),
        ("broken", "{", "summary.json is damaged; run it again"),
        ("other", "[]", "is no summary of a run"),
    ],
)
def test_what_cannot_be_loaded_is_one_line(tmp_path: Path, name: str, text: str | None, words: str) -> None:
    folder = tmp_path / name
    if text is not None:
        folder.mkdir()
    if text:
        (folder / "summary.json").write_text(text)
    with pytest.raises(UserError) as refused:
        lossylink.load(folder)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_directory_of_many_runs_names_one(tmp_path: Path) -> None:
    stress().save(tmp_path / "all" / "one")
    with pytest.raises(UserError, match=r"holds many runs; name single runs of it, such as .*/all/one$"):
        lossylink.load(tmp_path / "all")


def test_results_show_themselves() -> None:
    result = stress(["none", "lg"])
    lines = str(result).splitlines()
    assert lines[0].startswith("stress on sim, seed 1, ")
    assert lines[1].split()[0] == "protection"
    assert [line.split()[0] for line in lines[2:]] == ["none", "lg"]
    assert "speed (Gb/s)" in lines[1]
    html = result._repr_html_()
    assert "<td>lg</td>" in html
    assert html.count("<tr>") == len(lines) - 1


def test_a_figure_of_a_run() -> None:
    assert stress().plot().axes[0].get_ylabel() == "effective loss ratio, after the protection"
    with pytest.raises(UserError, match="no run has completion times"):
        stress().plot("ccdf")


def test_the_public_names_are_there() -> None:
    assert all(getattr(lossylink, name) is not None for name in lossylink.__all__)
    link = lossylink.Link(rate_bps=10**11, propagation_ps=500_000, loss_ratio=1e-3)
    assert lossylink.plan(link, target=1e-8).recommended
    assert lossylink.Lab.__name__ == "Lab"


def test_matplotlib_is_loaded_only_by_what_draws() -> None:
    code = (
        "import sys, lossylink\n"
        "run = lossylink.run('stress', protection='lg', settings={'traffic.packets': 1000})\n"
        "print(run, run.rows.height, 'matplotlib' in sys.modules)\n"
        "run.plot()\n"
        "print('matplotlib' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in done.stdout.splitlines()[-2:]] == ["False", "True"]
