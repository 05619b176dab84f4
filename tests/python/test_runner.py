"""The runner: progress, threads, interruption and broken simulations."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import polars
import pytest

import lossylink
from lossylink import RunError, UserError
from lossylink.declared.experiments import all_experiments
from lossylink.running.pool import run_all
from lossylink.running.run import Run
from lossylink.running.runner import run_scenario
from lossylink.scenario.resolving import resolve

from .fake_simulator import Simulate, simulations_by


def with_simulator(monkeypatch: pytest.MonkeyPatch, simulate: Simulate) -> None:
    monkeypatch.setattr("lossylink._native.Simulation", simulations_by(simulate))


def outcome(row: dict[str, Any], samples: list[float] | None = None) -> dict[str, Any]:
    columns = {"trials": polars.DataFrame({"fct_us": samples})} if samples else {}
    return {"row": row, "columns": columns, "states": [], "interrupted": False}


def test_rows_and_tables_keep_the_order_of_the_protections(monkeypatch: pytest.MonkeyPatch) -> None:
    barrier = threading.Barrier(2)

    def simulate(config: str, progress: Callable[[float, float], None]) -> dict[str, Any]:
        mode = next(iter(json.loads(config)["protection"]["mode"]))
        barrier.wait(timeout=10)
        return outcome({"packets_sent": 7, "extra": mode}, [1.5, 2.5] if mode == "ordered" else [3.5])

    with_simulator(monkeypatch, simulate)
    result = lossylink.run("stress", protection=["lg-nb", "lg"], threads=2)
    assert result.rows["protection"].to_list() == ["lg-nb", "lg"]
    assert result.rows["extra"].to_list() == ["non-blocking", "ordered"]
    assert result.tables["trials"].rows() == [("lg-nb", 3.5), ("lg", 1.5), ("lg", 2.5)]


@pytest.mark.parametrize(("threads", "each"), [(1, [1, 1, 1]), (2, [1, 1, 1]), (6, [2, 2, 2])])
def test_stress_shares_threads_between_protections(
    monkeypatch: pytest.MonkeyPatch, threads: int, each: list[int]
) -> None:
    seen: list[int] = []

    def simulate(config: str, progress: Callable[[float, float], None]) -> dict[str, Any]:
        seen.append(json.loads(config)["threads"])
        return outcome({})

    with_simulator(monkeypatch, simulate)
    lossylink.run("stress", protection=["none", "lg", "lg-nb"], threads=threads)
    assert seen == each


def test_trials_share_threads_inside_one_protection(monkeypatch: pytest.MonkeyPatch) -> None:
    running = threading.Lock()

    def simulate(config: str, progress: Callable[[float, float], None]) -> dict[str, Any]:
        assert running.acquire(blocking=False), "two protections at once"
        assert json.loads(config)["threads"] == 4
        running.release()
        return outcome({"trials": 1})

    with_simulator(monkeypatch, simulate)
    assert lossylink.run("tcp-fct", threads=4).rows.height == 3


@pytest.mark.parametrize(
    ("experiment", "trials", "threads", "each"),
    [
        ("fec", 1, 1, 1),
        ("fec", 1, 2, 1),
        ("fec", 2, 2, 2),
        ("fec", 2, 12, 4),
        ("tcp-fct", 100, 2, 1),
        ("tcp-fct", 101, 2, 2),
        ("workload", 1000, 3, 1),
        ("workload", 1001, 2, 2),
    ],
)
def test_protections_with_few_trials_run_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch, experiment: str, trials: int, threads: int, each: int
) -> None:
    """Three protections; a block of trials takes one thread."""
    seen: list[int] = []

    def simulate(config: str, progress: Callable[[float, float], None]) -> dict[str, Any]:
        seen.append(json.loads(config)["threads"])
        return outcome({"trials": 1})

    with_simulator(monkeypatch, simulate)
    settings = (
        {"flow.trials": trials, "run.duration": "1s"} if experiment == "fec" else {"flow.trials": trials}
    )
    lossylink.run(experiment, protection=["none", "lg", "lg-nb"], threads=threads, settings=settings)
    assert seen == [each] * 3


def test_progress_sums_over_protections(monkeypatch: pytest.MonkeyPatch) -> None:
    def simulate(config: str, progress: Callable[[float, float], None]) -> dict[str, Any]:
        progress(50.0, 100.0)
        progress(100.0, 100.0)
        return outcome({})

    told: list[tuple[float, float]] = []
    with_simulator(monkeypatch, simulate)
    lossylink.run("stress", protection=["none", "lg"], threads=1, progress=lambda *news: told.append(news))
    assert told == [(50.0, 200.0), (100.0, 200.0), (150.0, 200.0), (200.0, 200.0)]


def test_what_the_simulator_refuses_is_the_users_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    def simulate(config: str, progress: Callable[[float, float], None]) -> dict[str, Any]:
        raise ValueError("no such luck; choose another")

    with_simulator(monkeypatch, simulate)
    with pytest.raises(UserError, match="no such luck"):
        lossylink.run("stress")


def test_a_broken_invariant_is_a_failed_run_that_stops_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = threading.Event()

    def simulate(config: str, progress: Callable[[float, float], None]) -> dict[str, Any]:
        if json.loads(config)["protection"]["family"] == "linkguardian":
            raise RuntimeError("an invariant broke")
        for _ in range(1000):
            try:
                progress(0.0, 1.0)
            except KeyboardInterrupt:
                stopped.set()
                break
            stopped.wait(0.01)
        return outcome({})

    with_simulator(monkeypatch, simulate)
    with pytest.raises(RunError, match="stress with lg: an invariant broke"):
        lossylink.run("stress", protection=["none", "lg"], threads=2)
    assert stopped.is_set()


def test_a_callback_that_interrupts_keeps_the_finished_part() -> None:
    def enough(done: float, total: float) -> None:
        if done:
            raise KeyboardInterrupt

    result = lossylink.run(
        "stress", protection=["none"], settings={"traffic.packets": 10**12}, progress=enough
    )
    assert result.interrupted
    assert 0 < result.rows["packets_sent"][0] < 10**12


def test_a_callback_that_fails_is_heard() -> None:
    def broken(done: float, total: float) -> None:
        raise LookupError("no such bar")

    with pytest.raises(LookupError, match="no such bar"):
        lossylink.run("stress", protection=["none"], settings={"traffic.packets": 10**12}, progress=broken)


def deterministic(result: Run) -> polars.DataFrame:
    return result.rows.drop("packets_per_wall_second", strict=False)


@pytest.mark.parametrize(
    ("experiment", "settings"),
    [
        ("stress", {"traffic.packets": 50_000}),
        ("tcp-fct", {"flow.trials": 60}),
        ("rdma-fct", {"flow.trials": 60}),
    ],
)
def test_the_same_seed_gives_the_same_rows_whatever_the_threads(
    experiment: str, settings: dict[str, int]
) -> None:
    lossy: dict[str, Any] = {**settings, "loss": "1%"}
    one, two, again = (lossylink.run(experiment, settings=lossy, seed=5, threads=n) for n in (1, 2, 2))
    assert deterministic(one).equals(deterministic(two))
    assert deterministic(two).equals(deterministic(again))
    for name, table in one.tables.items():
        assert table.equals(two.tables[name])


def test_skipping_changes_nothing_but_the_time_it_takes() -> None:
    settings = {"traffic.packets": 30_000, "loss": "1e-3"}
    fast = lossylink.run("stress", settings=settings)
    slow = lossylink.run("stress", settings={**settings, "run.skip": "off"})
    keys = all_experiments()["stress"].row_keys[:-1]
    assert deterministic(fast).select(keys).equals(deterministic(slow).select(keys))


@pytest.mark.parametrize("timestamps", ["off", "on"])
def test_skipped_flows_leave_the_others_as_they_are(timestamps: str) -> None:
    settings = {
        "flow.trials": 250,
        "loss.forward": "1%",
        "host.profile": "ideal",
        "transport.timestamps": timestamps,
    }
    quick = lossylink.run("tcp-fct", protection=["none"], settings=settings, seed=1)
    slow = lossylink.run("tcp-fct", protection=["none"], settings={**settings, "run.skip": "off"}, seed=1)
    assert quick.rows["frames_skipped"][0] > 0 == slow.rows["frames_skipped"][0]
    assert quick.tables["trials"].equals(slow.tables["trials"])


def test_pcap_of_several_protections_is_refused() -> None:
    from pathlib import Path

    with pytest.raises(UserError, match="choose one protection"):
        run_scenario(resolve("stress"), pcap=("sw2-sw6", Path("x")))


def test_ctrl_c_while_threads_begin_stops_those_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(threading.Thread):
        def start(self) -> None:
            if self.name == "lossylink-1":
                raise KeyboardInterrupt
            super().start()

    monkeypatch.setattr(threading, "Thread", Interrupted)

    def until_told(task: int, stop: threading.Event) -> int:
        assert stop.wait(timeout=60)
        return task

    assert run_all(until_told, [1, 2], threads=2) == ([1], True)
