"""Runs with more trials than lie in memory give what runs give that have all of them in memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest

import lossylink
from lossylink.results.directory import write_run

MANY = 1_500_000
#: Prints how many files without a name the process has before a long run, while it holds the run, and after.
FILES = f"""
import lossylink, os
def files():
    numbers = os.listdir("/proc/self/fd")
    links = (f"/proc/self/fd/{{number}}" for number in numbers)
    return sum("(deleted)" in os.readlink(link) for link in links if os.path.lexists(link))
def run(trials):
    return lossylink.run("rdma-fct", protection="none", settings={{"flow.trials": trials}})
few = run(100_000)
before = files()
many = run({MANY})
during = files()
del many
print(before, during, files())
"""


def _run() -> lossylink.Run:
    return lossylink.run("rdma-fct", protection=["none"], settings={"flow.trials": MANY})


def test_figures_and_files_are_those_of_the_table(tmp_path: Path) -> None:
    """To the bit: sums are taken one after another, in ascending order."""
    result = _run()
    write_run(tmp_path, result)
    trials, row = result.tables["trials"], result.records[0]
    assert polars.read_parquet(tmp_path / "trials.parquet").equals(trials)
    times = np.sort(trials["fct_us"].to_numpy())
    assert row["trials"] == len(times) == MANY
    assert (row["fct_us_min"], row["fct_us_max"]) == (times[0], times[-1])
    mean = np.cumsum(times)[-1] / MANY
    deviation = np.sqrt(np.cumsum(np.square(times - mean))[-1] / (MANY - 1))
    assert (row["fct_us_mean"], row["fct_us_std"]) == (mean, deviation)
    for key, fraction in (("p50", 0.5), ("p90", 0.9), ("p99_99", 0.9999)):
        assert row[f"fct_us_{key}"] == pytest.approx(np.quantile(times, fraction), rel=1e-12)


def test_without_a_temporary_file_the_run_is_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = _run()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    found = _run()
    assert found.records == expected.records
    assert found.tables["trials"].equals(expected.tables["trials"])


def test_a_long_run_has_a_file_as_long_as_somebody_holds_it() -> None:
    done = subprocess.run([sys.executable, "-c", FILES], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1", "0"]
