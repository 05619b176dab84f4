"""Distributions of flow sizes: packaged ones, files of one's own, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import lossylink
from lossylink.cli.runs.fitting import crowded
from lossylink.errors import UserError
from lossylink.scenario.fingerprint import fingerprint
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve
from lossylink.scenario.workload import load_flow_sizes


@pytest.mark.parametrize("name", ["web-search", "rpc"])
def test_packaged_distributions_are_complete(name: str) -> None:
    points = load_flow_sizes(name).points
    assert points == sorted(points)
    assert points[-1][1] == 1


def test_a_file_beside_the_scenario_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("# size, share\n1000, 0.25\n\n20000, 1  # the rest\n")
    (tmp_path / "mine.toml").write_text('experiment = "workload"\n[flow]\ndistribution = "mine.csv"\n')
    scenario = resolve(tmp_path / "mine.toml")
    native = configuration(scenario, scenario.protections[0])["workload"]
    assert native["points"] == [(1000, 0.25), (20_000, 1)]
    assert native["distribution"] == "mine"
    assert scenario.settings["flow"]["distribution"] == str(tmp_path / "mine.csv")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no points"),
        ("1000", "mine.csv:1: ['1000'] is not a size"),
        ("1000,a", "is not a size in bytes and a share"),
        ("0,1", "from 1 byte on"),
        ("10,0.5\n5,1", "must both rise"),
        ("10,0.5", "the last share is 0.5"),
    ],
)
def test_a_file_that_is_no_distribution_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises(UserError) as refused:
        load_flow_sizes("mine.csv", folder=tmp_path)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"flow.distribution": "websearch"}, "did you mean 'web-search'"),
        ({"flow.load": "100%"}, "flow.load = 1 is out of range"),
        ({"flow.load": 60}, "60 % or a ratio?"),
        ({"transport.protocol": "rdma", "transport.mtu": 4096}, "does not fit link.mtu 1500"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(UserError) as refused:
        resolve("workload", settings=settings)
    assert says in str(refused.value)


def test_the_distribution_decides_the_fingerprint() -> None:
    one = fingerprint(resolve("workload"), "1")
    assert one != fingerprint(resolve("workload", settings={"flow.distribution": "rpc"}), "1")
    assert one == fingerprint(resolve("workload"), "1")


def test_trials_hold_what_the_row_sums_up() -> None:
    run = lossylink.run(
        "workload", protection=["lg"], settings={"flow.trials": 200, "flow.distribution": "rpc"}
    )
    trials = run.tables["trials"]
    assert trials.height == run.rows["trials"].item() == 200
    assert trials["fct_us"].max() == pytest.approx(run.rows["fct_us_max"].item())
    assert (trials["slowdown"] > 0.9).all()


def test_flows_of_one_host_wait_in_its_interface_and_those_of_many_in_front_of_the_link() -> None:
    clean = {"flow.trials": 1000, "loss.forward": "0"}
    (one,) = lossylink.run("workload", protection=["none"], settings=clean).records
    # The interface is as fast as the link: what comes out of it finds the link idle, and nothing marks.
    full_frame = 1500 + 14 + 4 + 20
    assert one["queue_bytes_max"] <= full_frame
    assert one["frames_marked"] == 0
    assert one["interface_queue_bytes_max"] > 100 * full_frame
    (many,) = lossylink.run("workload", protection=["none"], settings=clean | {"path.rtt": "8us"}).records
    assert many["interface_queue_bytes_max"] == 0
    assert many["queue_bytes_max"] > 100 * full_frame
    assert many["frames_marked"] > 0


def test_a_run_says_when_its_tails_are_waits_in_the_interface_of_the_host() -> None:
    clean = {"flow.trials": 1000, "loss.forward": "0"}
    one = lossylink.run("workload", protection=["none", "llr"], settings=clean)
    (words,) = crowded(one.records)
    waits = [
        f"{row['protection']}: up to {row['interface_queue_bytes_max'] * 8 / 1e5:,.0f} us"
        for row in one.records
    ]
    assert f"({', '.join(waits)})" in words
    many = lossylink.run("workload", protection=["none"], settings=clean | {"path.rtt": "8us"})
    assert crowded(many.records) == []
    light = lossylink.run("workload", protection=["none"], settings=clean | {"flow.load": 0.01})
    assert crowded(light.records) == []
