"""What a guest is told, without a kernel: hosts, scripts, refusals, and whether time moves."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from lossylink.declared.protections import parse_protection
from lossylink.errors import RunError, UserError
from lossylink.linux.guest import hosts
from lossylink.linux.guest.watch import Watch
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve


def configured(**settings: Any) -> dict[str, Any]:
    chosen = {"host.profile": "ideal"} | {name.replace("__", "."): value for name, value in settings.items()}
    return configuration(resolve("throughput", settings=chosen), parse_protection("none"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"transport__congestion_control": "bbr3"}, "no congestion control 'bbr3'"),
        ({"host__profile": "lab"}, "ticks every 1000 us, and the profile 'lab' every 4000 us"),
        ({"transport__delayed_ack": 4}, "acknowledges every second segment, not every 4"),
    ],
)
def test_hosts_that_linux_is_not_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        hosts.check(configured(**settings))
    assert "--set" in str(refused.value), "the mend is missing"


def test_hosts_of_every_congestion_control_are_not_refused() -> None:
    for control in hosts.CONGESTION_CONTROLS:
        hosts.check(configured(transport__congestion_control=control))


def test_only_dctcp_takes_marks() -> None:
    for control, mark in (("dctcp", 1), ("cubic", 0)):
        config = configured(transport__congestion_control=control)
        script = hosts.setup_script(config, is_measured=True)
        assert f"echo '\"'\"'{mark}'\"'\"' > /proc/sys/net/ipv4/tcp_ecn" in script


def test_offloads_are_those_of_the_profile() -> None:
    """A host without offload takes one segment at a time; there is no other way to keep TCP from bursts."""
    single, merging = configured(), configured(host__profile="ae-hosts")
    assert hosts.setup_script(single, is_measured=True).count("gso_max_segs 1") == 2
    assert "gso_max_segs" not in hosts.setup_script(merging, is_measured=True)
    assert hosts.setup_script(merging, is_measured=True).count("gro on") == 2


def test_measured_hosts_offer_the_window_of_the_simulator() -> None:
    """The route bounds what is offered; buffers have room for four windows. Other hosts tune theirs."""
    usual = configured()
    assert "window 3145728" in hosts.setup_script(usual, is_measured=True)
    assert "4096 16777216 16777216" in hosts.setup_script(usual, is_measured=True)
    assert "window" not in hosts.setup_script(usual, is_measured=False)
    assert "4096 131072" in hosts.setup_script(usual, is_measured=False)
    large = configured(transport__receive_window="64MiB")
    assert hosts.setup_script(large, is_measured=False).count("window 67108864") == 2
    assert "4096 268435456 268435456" in hosts.setup_script(large, is_measured=True)


def test_a_connection_begins_with_as_many_segments_as_the_scenario_says() -> None:
    config = configured(transport__initial_window=40)
    assert hosts.setup_script(config, is_measured=True).count("initcwnd 40") == 2


class Clock:
    """What a guest would write about itself."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self.now, self.used = path, 0.0, 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        self.watch = Watch(path, 1)
        monkeypatch.setattr(self.watch, "_session_seconds", lambda: self.used)

    def pass_time(self, seconds: float, *, used: float, told: str) -> None:
        self.now += seconds
        self.used += used
        self.path.write_text(told)
        self.watch.look()


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(tmp_path / "clock", monkeypatch)


def test_a_program_that_never_sleeps_is_named(clock: Clock) -> None:
    clock.pass_time(0.1, used=0.1, told="5 1000 spinner")
    clock.pass_time(9.0, used=9.0, told="5 1000 spinner")
    with pytest.raises(RunError, match="spinner has used the processor for 10 s"):
        clock.pass_time(1.5, used=1.5, told="5 1000 spinner")


def test_a_guest_that_sleeps_now_and_then_may_go_on(clock: Clock) -> None:
    for sleeps in range(20):
        clock.pass_time(5.0, used=5.0, told=f"{sleeps} 1000 worker")


def test_a_guest_that_a_busy_machine_does_not_let_run_may_wait(clock: Clock) -> None:
    clock.pass_time(0.1, used=0.1, told="5 1000 waiter")
    clock.pass_time(60.0, used=0.5, told="5 1000 waiter")


def test_a_busy_machine_does_not_make_a_spinner_of_a_program_that_computes(clock: Clock) -> None:
    """It gets a third of a processor: 30 s by the wall are 10 s of computing."""
    clock.pass_time(0.1, used=0.1, told="5 1000 worker")
    clock.pass_time(29.0, used=9.7, told="5 1000 worker")
    with pytest.raises(RunError, match="worker has used the processor for 10 s"):
        clock.pass_time(1.0, used=0.4, told="5 1000 worker")


def test_a_guest_that_has_not_said_anything_is_not_judged(clock: Clock) -> None:
    clock.pass_time(60.0, used=60.0, told="")
