"""The comparison of simulator and kernel: pairs of runs, intervals, verdicts, the command around them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import polars
import pytest

from lossylink.cli.exits import MISTAKE
from lossylink.linux.guest import comparison
from lossylink.linux.guest.comparison import PLACES, Place, compare_throughput, compare_times
from lossylink.linux.guest.writes import writes
from lossylink.running.run import Run
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve

from .conftest import Ended

PLACE = PLACES[0]


def run_of(row: dict[str, Any], times: list[float] | None = None) -> Run:
    tables = {} if times is None else {"trials": polars.DataFrame({"fct_us": times})}
    return Run(
        experiment="any",
        backend="any",
        version="",
        seed=1,
        wall_seconds=0.0,
        scenario={},
        records=[row],
        parts=tables,
    )


def measuring(mbps: dict[str, Callable[[int], float]]) -> comparison.Measure:
    def measure(_: str, __: str, backend: str, ___: dict[str, Any], seed: int) -> Run:
        return run_of({"average_throughput_gbps": mbps[backend](seed) / 1e3, "lateness_ns_max": 1.5 * seed})

    return measure


def test_the_difference_is_that_of_runs_with_the_same_losses() -> None:
    """Both vary by a factor of three from seed to seed, and differ by 1 % in each."""
    measure = measuring({"sim": lambda seed: 100.0 * seed, "kernel": lambda seed: 101.0 * seed})
    found = compare_throughput(PLACE, "reno", runs=3, measure=measure)
    assert found.sim_mbps == pytest.approx(200.0)
    assert found.kernel_mbps == pytest.approx(202.0)
    assert found.difference.value == pytest.approx(0.01)
    assert found.difference.high - found.difference.low == pytest.approx(0.0, abs=1e-9)
    assert found.lateness_ns == 4.5
    assert found.passes


@pytest.mark.parametrize(("share", "passes"), [(1.04, True), (1.06, False), (0.96, True), (0.94, False)])
def test_five_per_cent_pass(share: float, passes: bool) -> None:
    measure = measuring({"sim": lambda _: 100.0, "kernel": lambda seed: 100.0 * share + 1e-3 * seed})
    assert compare_throughput(PLACE, "reno", runs=3, measure=measure).passes is passes


def test_a_difference_that_may_be_none_passes() -> None:
    measure = measuring({"sim": lambda _: 100.0, "kernel": lambda seed: (80.0, 130.0, 112.0)[seed - 1]})
    found = compare_throughput(PLACE, "reno", runs=3, measure=measure)
    assert found.difference.value > comparison.LIMIT
    assert found.passes


def test_percentiles_pass_inside_each_other_s_intervals() -> None:
    def measure(_: str, __: str, backend: str, ___: dict[str, Any], ____: int) -> Run:
        step = 1.0 if backend == "sim" else 1.02
        return run_of({}, [100.0 + step * place for place in range(1000)])

    middle, *_, tail = compare_times(PLACE, "dctcp", 24_387, measure=measure)
    assert (middle.percent, tail.percent) == (50.0, 99.0)
    assert middle.passes
    assert abs(tail.kernel_us.value / tail.sim_us.value - 1) > comparison.CLOSE
    assert not tail.passes


def measuring_writes(kernel: Callable[[float], float]) -> comparison.Measure:
    """Give runs of 1,000 writes that take 100 to 110 us in the simulator."""

    def measure(experiment: str, _: str, backend: str, __: dict[str, Any], ___: int) -> Run:
        assert experiment == "rdma-fct"
        times = [100.0 + place / 100 for place in range(1000)]
        return run_of({}, times if backend == "sim" else [kernel(time) for time in times])

    return measure


@pytest.mark.parametrize(
    ("kernel", "passes", "is_of_timer"),
    [
        (lambda time: time, True, False),
        (lambda time: 1.05 * time, False, False),
        # Close in the middle; in the tail, a tick later.
        (lambda time: time if time < 108 else time + 1000, True, True),
    ],
)
def test_writes_pass_unless_they_differ_by_more_than_a_timer(
    kernel: Callable[[float], float], passes: bool, is_of_timer: bool
) -> None:
    measure = measuring_writes(kernel)
    middle, _, tail, _ = writes(measure=measure, losses=("1e-2",), protections=("none",))
    assert (middle.percent, tail.percent) == (50.0, 99.0)
    assert (middle.passes, middle.is_of_timer) == (passes, False)
    assert (tail.passes, tail.is_of_timer) == (passes, is_of_timer)


def test_writes_that_never_end_on_one_side_do_not_pass() -> None:
    measure = measuring_writes(lambda time: time if time < 108 else math.inf)
    middle, _, tail, _ = writes(measure=measure, losses=("1e-2",), protections=("none",))
    assert (middle.passes, tail.passes, tail.is_of_timer) == (True, False, False)


def test_writes_are_compared_without_and_under_protection(
    command: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lossylink.cli.validate.require_kernel", lambda: None)
    monkeypatch.setattr("lossylink.cli.validate._run", measuring_writes(lambda time: 1.02 * time))
    ended = command("validate", "--backend", "kernel", "--only", "writes", "--json")
    assert ended.code == 1
    found = json.loads(ended.out)
    assert {(one["loss"], one["protection"]) for one in found["writes"]} == {
        (loss, protection) for loss in ("0", "1e-3", "1e-2") for protection in ("none", "lg", "lg-nb")
    }
    assert found["times"] == found["throughputs"] == []
    monkeypatch.setattr("lossylink.cli.validate._run", measuring_writes(lambda time: time))
    assert "p99.9" in command("validate", "--backend", "kernel", "--only", "writes").out


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_every_place_is_a_scenario(place: Place) -> None:
    settings = place.settings("bbr") | place.lasting()
    scenario = resolve("throughput", settings=settings, protection=[place.protection])
    run = configuration(scenario, scenario.protections[0])["run"]
    assert run["duration_ps"] - run["warmup_ps"] == pytest.approx(place.counted_s * 1e12)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--cc", "vegas"), "bbr, cubic, dctcp, reno"),
        (("--place", "99"), "--place 99: there are 14 points"),
    ],
)
def test_a_mistake_is_one_line(
    words: tuple[str, ...], says: str, command: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lossylink.cli.validate.require_kernel", lambda: None)
    ended = command("validate", "--backend", "kernel", *words)
    assert ended.code == MISTAKE
    assert says in ended.err


def test_the_command_prints_json(command: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch) -> None:
    measure = measuring({"sim": lambda _: 100.0, "kernel": lambda seed: 110.0 + 1e-3 * seed})
    monkeypatch.setattr("lossylink.cli.validate.require_kernel", lambda: None)
    monkeypatch.setattr("lossylink.cli.validate._run", measure)
    words = ("--backend", "kernel", "--only", "throughput", "--cc", "reno", "--place", "1", "--json")
    ended = command("validate", *words)
    assert ended.code == 1
    (found,) = json.loads(ended.out)["throughputs"]
    assert found["place"]["rate"] == "10Gbps"
    assert not found["passes"]
