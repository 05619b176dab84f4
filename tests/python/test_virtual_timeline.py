"""A time line under real hosts: the link corrupts, and is protected, while the kernel's TCP sends."""

from __future__ import annotations

from typing import Any

import polars
import pytest

import lossylink
from lossylink.running.run import Run

from .kernel_support import needed_kernel

needed_kernel()
PUNCTUALITY_NS = 10.0
#: Twelve bins: clean, corrupting, protected, four each.
BINS = 12
SETTINGS: dict[str, Any] = {
    "host.profile": "ideal",
    "link.rate": "10Gbps",
    "loss.forward": "1e-3",
    "run.duration": "60ms",
    "timeline.corruption": "20ms",
    "timeline.protection": "40ms",
    "timeline.bin": "5ms",
}


def run_of(backend: str, **more: Any) -> Run:
    return lossylink.run("timeline", protection=["lg"], settings=SETTINGS | more, backend=backend, seed=1)


@pytest.fixture(scope="module")
def real() -> Run:
    return run_of("kernel")


@pytest.fixture(scope="module")
def simulated() -> Run:
    return run_of("sim")


def bins(run: Run, column: str) -> list[float]:
    values: polars.Series = run.tables["timeline"][column]
    return [float(value) for value in values.to_list()]


def test_the_table_has_the_columns_of_the_simulator(real: Run, simulated: Run) -> None:
    assert set(real.tables["timeline"].columns) == set(simulated.tables["timeline"].columns)
    for column in ("time_s", "protected", "copies"):
        assert bins(real, column) == pytest.approx(bins(simulated, column)), column
    assert len(bins(real, "time_s")) == BINS


def test_the_link_corrupts_and_is_protected_when_the_scenario_says(real: Run) -> None:
    again = bins(real, "retransmissions")
    assert sum(again[:4]) == 0
    assert sum(again[4:8]) > 5
    # What was lost just before the switch is sent again after it.
    assert sum(again[9:]) == 0
    row = real.records[0]
    assert sum(again) == row["retransmissions"]
    assert row["timeouts"] == 0
    assert row["lateness_ns_max"] <= PUNCTUALITY_NS


def test_the_sender_is_as_fast_as_the_simulated_one(real: Run, simulated: Run) -> None:
    """Both begin with their first segment, lose the same frames, and wait in the same queue."""
    pairs = zip(bins(real, "send_gbps"), bins(simulated, "send_gbps"), strict=True)
    for measured, expected in pairs:
        assert measured == pytest.approx(expected, rel=0.05)
    both = [run.records[0]["average_throughput_gbps"] for run in (real, simulated)]
    assert both[0] == pytest.approx(both[1], rel=0.01)


def test_a_monitor_decides_under_real_hosts_too() -> None:
    """It reads the counters every millisecond, and needs frames lost before it protects."""
    monitored: dict[str, Any] = {
        "loss.forward": "1e-2",
        "timeline.protection": "auto",
        "timeline.poll": "1ms",
    }
    monitored |= {"monitor.window": 10_000, "monitor.on_loss": 1e-3, "monitor.off_loss": 5e-4}
    protected = bins(run_of("kernel", **monitored), "protected")
    assert protected == pytest.approx(bins(run_of("sim", **monitored), "protected"), abs=0.25)
    assert sum(protected[:4]) == 0
    assert protected[-1] == 1.0
