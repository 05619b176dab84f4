"""`lab auto`: the core's monitor switches the protection of a live link on and off again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lossylink._native import Monitor
from lossylink.errors import UserError
from lossylink.linux.lab import Lab
from lossylink.linux.lab.hosts import H8
from lossylink.linux.lab.monitor import Policy, run_monitor

from .live_support import PATIENCE_SECONDS, agreed, lab, needs_live_lab, until

needs_live_lab()

#: Thresholds that a thousand frames can tell apart.
_POLICY = Policy(on_loss=2e-2, off_loss=5e-3, hold_seconds=0.5, poll_seconds=0.1)


@contextmanager
def _monitored(up: Lab) -> Iterator[list[str]]:
    """Let pings pass and the monitor watch; yield what it tells."""
    told: list[str] = []
    stop = threading.Event()

    def tell(line: str) -> None:
        told.append(line)

    pings = up.start("h4", ["ping", "-q", "-i", "0.002", H8.address])
    monitor = threading.Thread(
        target=run_monitor, args=(up,), kwargs={"tell": tell, "policy": _POLICY, "stop": stop}
    )
    monitor.start()
    try:
        yield told
    finally:
        stop.set()
        monitor.join()
        pings.terminate()
        pings.communicate()


def test_the_monitor_switches_on_and_off_again() -> None:
    with lab() as up, _monitored(up) as told:
        up.set_loss(forward="20%")
        until(lambda: bool(told), seconds=PATIENCE_SECONDS, what="the decision to protect")
        assert "lg:copies=" in told[0]
        until(lambda: agreed(up), seconds=PATIENCE_SECONDS, what="agreement of the guards")
        up.set_loss(forward="none")
        until(lambda: told[-1].endswith("off"), seconds=PATIENCE_SECONDS, what="the decision to stop")
        until(
            lambda: up.guards()[0]["protection"] == "none",
            seconds=PATIENCE_SECONDS,
            what="the end of protection",
        )


def test_the_way_back_has_a_monitor_of_its_own() -> None:
    with lab() as up, _monitored(up) as told:
        up.set_loss(forward="20%", reverse="20%")
        until(
            lambda: bool(told) and "control_copies=" in told[-1],
            seconds=PATIENCE_SECONDS,
            what="the decision to send copies of control frames",
        )
        assert any("on the way back" in line for line in told)
        until(
            lambda: all(guard["receiver"]["control_copies"] > 1 for guard in up.guards()),
            seconds=PATIENCE_SECONDS,
            what="copies of control frames",
        )


def test_a_clean_link_is_left_alone() -> None:
    monitor = Policy(on_loss=1e-3).monitor()
    assert [monitor.observe(second, 1000 * second, 1000 * second) for second in range(100)] == [None] * 100
    assert monitor.copies == 0
    assert monitor.counts[1] == 0


def test_the_decisions_are_those_of_the_core() -> None:
    # MON-4, MON-8: 1e-2 asks for 3 copies; MON-7: a window without loss ends the protection.
    monitor = Policy(on_loss=1e-3, hold_seconds=1.0).monitor()
    assert monitor.observe(0.0, 0, 0) is None
    assert monitor.observe(1.0, 99_000, 100_000) == 3
    assert monitor.copies == 3
    assert monitor.observe(3.0, 5_099_000, 5_100_000) in {0, 1}
    assert monitor.observe(5.0, 15_099_000, 15_100_000) in {0, None}
    assert monitor.copies == 0


def test_thresholds_that_cannot_work_together_are_refused() -> None:
    with pytest.raises(UserError, match="protection would flap"):
        Policy(on_loss=1e-3, off_loss=2e-3).monitor()
    with pytest.raises(UserError, match="confidence 1"):
        Policy(confidence=1.0).monitor()
    with pytest.raises(ValueError, match="is not between 0 and 213 days"):
        Policy().monitor().observe(-1.0, 0, 0)
    with pytest.raises(ValueError, match="can never show"):
        Monitor(
            window_frames=10,
            on_loss=1e-3,
            off_loss=5e-4,
            many_copies_loss=0.0,
            target_loss=1e-8,
            confidence=0.99,
            hold_seconds=1.0,
        )
