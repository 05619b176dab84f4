"""``lossylink plot``: what it writes, what it says, how it refuses; ``--csv`` of run and sweep."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import polars
import pytest

import lossylink

from .conftest import Ended

FEW = ("-s", "traffic.packets=5000", "-s", "run.threads=1")
Command = Callable[..., Ended]


@pytest.fixture
def stress(command: Command) -> str:
    assert command("run", "stress", "-p", "none", "-p", "lg", *FEW, "--output", "one").code == 0
    return "one"


def test_every_kind_that_fits_is_drawn(command: Command, stress: str) -> None:
    ended = command("plot", stress, "-o", "figures", "--format", "png,csv")
    assert ended.code == 0
    names = ["effective-loss", "published", "link-speed"]
    assert ended.out.splitlines()[-1] == (
        "drew effective-loss, published, link-speed; 14 other kinds are not possible; --verbose says why"
    )
    assert {path.name for path in Path("figures").iterdir()} == {
        *(f"{name}.{suffix}" for name in names for suffix in ("png", "csv")),
        ".figures.json",
    }
    assert Path("figures/published.png").read_bytes().startswith(b"\x89PNG")


def test_verbose_gives_a_reason_for_each_other_kind(command: Command, stress: str) -> None:
    ended = command("plot", stress, "--format", "csv", "--verbose")
    reasons = [line for line in ended.out.splitlines() if line.startswith("no ")]
    assert len(reasons) == 14
    assert "no ccdf: no run has completion times; run tcp-fct, rdma-fct or workload" in reasons


def test_several_runs_lie_over_each_other(command: Command, stress: str) -> None:
    assert command("run", "stress", "-p", "lg", *FEW, "-s", "link.rate=25G", "--output", "two").code == 0
    assert command("plot", stress, "two", "--kind", "link-speed", "--format", "csv").code == 0
    with Path("figures/link-speed.csv").open() as file:
        labels = {row[3] for row in list(csv.reader(file))[1:]}
    assert labels == {
        "no protection, rate 100Gbps",
        "LinkGuardian, rate 100Gbps",
        "LinkGuardian, rate 25G",
    }


def test_a_sweep_is_drawn(command: Command) -> None:
    grid = ("--grid", "loss.forward=1e-3,1e-2", "--grid", "protection=none,lg")
    assert command("sweep", "stress", *grid, *FEW, "--output", "swept", "--threads", "1", "--csv").code == 0
    ended = command("plot", "swept", "--format", "csv", "--kind", "goodput", "--kind", "effective-loss")
    assert ended.out.splitlines() == [
        "figures/goodput.csv",
        "figures/effective-loss.csv",
        "drew goodput, effective-loss; nothing else was asked for",
    ]
    rows = polars.read_csv("swept/rows.csv")
    drawn = polars.read_csv("figures/goodput.csv").filter(polars.col("series") == "LinkGuardian")
    mine = rows.filter(polars.col("protection") == "lg")["effective_link_speed_gbps"]
    assert drawn["effective link speed (Gb/s)"].to_list() == pytest.approx(mine.to_list())


def test_csv_holds_rows_and_tables(command: Command) -> None:
    words = ("run", "tcp-fct", "-p", "lg", "-s", "flow.trials=50", "--csv", "--output", "fct")
    assert command(*words).code == 0
    run = lossylink.load("fct")
    assert isinstance(run, lossylink.Run)
    trials = polars.read_csv("fct/trials.csv")
    assert trials["fct_us"].to_list() == pytest.approx(run.tables["trials"]["fct_us"].to_list())
    rows = polars.read_csv("fct/rows.csv")
    assert rows["trials"].to_list() == [50]
    refused = command("run", "stress", "--csv", "--json", *FEW)
    assert (refused.code, refused.err) == (
        2,
        "error: --csv writes files and --json keeps none; add --output DIR\n",
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "there is no nowhere; name the directory of a run, as lossylink run prints it"),
        (["."], "holds many runs; name single runs of it, such as one"),
        (
            ["one", "--kind", "cdf"],
            "unknown kind of figure 'cdf'; did you mean 'ccdf'? Valid: buffers",
        ),
        (["one", "--kind", "ccdf"], "no run has completion times; run tcp-fct, rdma-fct or workload"),
        (["one", "--format", "gif"], "unknown format 'gif'; Valid: csv, flent, json, pdf, png, svg"),
        (["one", "--format", ","], "--format names none; valid: png, svg"),
        (["one", "-o", "one/summary.json"], "cannot write to one/summary.json: "),
        (["one", "--format", "flent"], "flent draws time series, and no run has a rate over time; run"),
        ([], "Missing argument 'RUN...'; see `lossylink plot --help`"),
    ],
)
def test_a_mistake_is_one_line(command: Command, stress: str, words: list[str], message: str) -> None:
    ended = command("plot", *words)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1


def test_flent_files_have_flents_names_and_units(command: Command) -> None:
    words = ("run", "fec", "-p", "none", "-p", "fec:25/5", "-s", "run.duration=20ms", "--output", "fec")
    assert command(*words).code == 0
    ended = command("plot", "fec", "--format", "flent", "-o", "flent")
    files = sorted(Path("flent").glob("*.gz"))
    assert sorted(ended.out.splitlines()) == [str(file) for file in files]
    assert [file.name for file in files] == ["fec-FEC_25_5.flent.gz", "fec-no_protection.flent.gz"]
    data = json.loads(gzip.decompress(files[0].read_bytes()))
    assert set(data) == {"metadata", "version", "x_values", "results", "raw_values"}
    assert data["version"] == 4
    run = lossylink.load("fec")
    assert isinstance(run, lossylink.Run)
    series = run.tables["series"].filter(polars.col("protection") == "fec:25/5")
    upload = data["results"]["TCP upload"]
    assert data["x_values"] == pytest.approx(series["time_s"].to_list())
    assert upload == pytest.approx((series["throughput_gbps"] * 1e3).to_list())
    assert data["results"]["TCP upload::tcp_cwnd"] == pytest.approx(series["cwnd_packets"].to_list())
    pings = [value for value in data["results"]["Ping (ms) ICMP"] if value is not None]
    told = series["latency_us_ewma"].drop_nans().drop_nulls() / 1e3
    assert pings == pytest.approx(told.to_list())
    raw = data["raw_values"]["TCP upload"]
    assert [point["val"] for point in raw] == upload
    step = data["metadata"]["STEP_SIZE"]
    assert raw[1]["t"] - raw[0]["t"] == pytest.approx(step, abs=1e-6)  # what a float of this size holds
    assert (data["metadata"]["NAME"], data["metadata"]["TITLE"]) == ("tcp_1up", "FEC (25,5)")
    assert data["metadata"]["T0"].endswith("Z")


def test_a_point_of_a_reproduction_is_drawn(command: Command) -> None:
    words = ("--quick", "--only", "throughput", "--output", "all", "--threads", "1")
    assert command("reproduce", *words).code == 0
    assert command("plot", "all/throughput/loss-1e-3", "--format", "csv").code == 0
    assert Path("figures/published.csv").is_file()
    assert "all holds a reproduction; name single runs" in command("plot", "all").err


def test_help_has_three_examples(command: Command) -> None:
    assert command("plot", "--help").out.count("lossylink plot ") == 4  # one is the usage
