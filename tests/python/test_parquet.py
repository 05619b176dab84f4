"""Parquet files say where they are from: seed, version, commit, and the unit of each column."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars

import lossylink
from lossylink import _native
from lossylink.declared.experiments import all_experiments
from lossylink.results.directory import write_run
from lossylink.results.parquet import units_of


def test_a_table_of_a_run_says_its_seed_and_its_units(tmp_path: Path) -> None:
    result = lossylink.run("tcp-fct", protection=["lg"], settings={"flow.trials": 20}, seed=11)
    write_run(tmp_path, result)
    path = tmp_path / "trials.parquet"
    facts = polars.read_parquet_metadata(path)
    assert facts["lossylink.seed"] == "11"
    assert facts["lossylink.version"] == result.version
    assert facts["lossylink.commit"] == _native.commit()
    assert facts["lossylink.experiment"] == "tcp-fct"
    units = json.loads(facts["lossylink.units"])
    assert units["fct_us"] == "us"
    assert units["lost_frames"] == "frames"
    assert units.keys() == set(result.tables["trials"].columns) - {"protection"}
    assert polars.read_parquet(path).equals(result.tables["trials"]), "the data are as they were"
    assert json.loads((tmp_path / "manifest.json").read_text())["commit"] == _native.commit()


def test_the_rows_of_a_sweep_say_every_seed_and_their_units(tmp_path: Path) -> None:
    small = {"traffic.packets": 2_000}
    grid: dict[str, list[Any]] = {"seed": [3, 4], "loss": ["0", "1e-3"]}
    result = lossylink.sweep(
        "stress", grid=grid, protection=["lg"], settings=small, output=tmp_path, threads=1
    )
    facts = polars.read_parquet_metadata(tmp_path / "rows.parquet")
    units = json.loads(facts["lossylink.units"])
    assert facts["lossylink.seed"] == "3,4"
    assert facts["lossylink.commit"] == json.loads((tmp_path / "manifest.json").read_text())["commit"]
    assert (units["tx_buffer_kb_max"], units["effective_loss_rate"]) == ("KB", "ratio")
    assert units["effective_link_speed_gbps"] == "Gb/s"
    assert not {"protection", "loss", "seed"} & units.keys(), "what was set is text, with its own unit"
    assert units.keys() <= set(result.rows.columns)


def test_a_key_with_a_unit_in_its_name_has_that_unit() -> None:
    """The dictionary and the names agree, in every experiment."""
    suffixes = {"_gbps": "Gb/s", "_mbps": "Mb/s", "_us": "us", "_ms": "ms", "_seconds": "s"}
    wrong = []
    for experiment in all_experiments().values():
        units = units_of(list(experiment.row_keys), name="rows", experiment=experiment.name)
        for key in experiment.row_keys:
            unit = next((unit for suffix, unit in suffixes.items() if key.endswith(suffix)), None)
            if unit is not None and units.get(key) != unit:
                wrong.append((experiment.name, key, units.get(key)))
    assert wrong == []


def test_a_key_of_two_experiments_has_the_unit_of_each() -> None:
    def unit(experiment: str, *beside: str) -> str:
        return units_of(["retransmissions", *beside], name="rows", experiment=experiment)["retransmissions"]

    assert unit("stress") == "frames"
    assert unit("throughput", "cwnd_packets_mean", "mss_bytes") == "segments"
    assert unit("throughput", "dcqcn", "frames_marked") == "packets"


def test_a_column_that_the_dictionary_does_not_know_has_no_unit() -> None:
    assert units_of(["nonsense"], name="trials", experiment="stress") == {}
    assert units_of(["fct_us"], name="nonsense", experiment="stress") == {}
