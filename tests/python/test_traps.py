"""The six traps: each naive set-up is caught by its check, each corrected one passes, the page says so."""

from __future__ import annotations

import pytest

from lossylink.results.checks import Status
from lossylink.running.mathis import traps

from .fake_simulator import BASE, FakeSimulator
from .mathis_support import trap

NAMES = ["percent", "duration", "queue", "timestamps", "mtu", "offload"]


def run(name: str) -> traps.TrapRun:
    return trap(name, BASE)


def test_all_six_in_the_order_of_the_study() -> None:
    assert list(traps.TRAPS) == NAMES
    assert [trap.number for trap in traps.TRAPS.values()] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("name", NAMES)
def test_the_check_catches_the_naive_and_passes_the_corrected(name: str) -> None:
    outcome = run(name)
    *naive, corrected = outcome.trap.setups
    assert naive
    assert corrected.name == "corrected"
    for setup in naive:
        assert outcome.catching_check(setup.name).status is Status.FAILED
    judged = outcome.row("corrected")["checks"]
    assert [check for check, entry in judged.items() if entry["passed"] is False] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_same_trial_is_asked_for_in_every_set_up(name: str) -> None:
    keys = ("mss_requested_bytes", "rtt_ms", "loss_ratio", "model_mbps")
    assert len({tuple(row[key] for key in keys) for row in run(name).rows}) == 1


def test_percent_trap_measures_what_the_law_promises_for_a_hundredth() -> None:
    outcome = run("percent")
    naive, corrected = outcome.row("naive"), outcome.row("corrected")
    assert naive["model_mbps"] == pytest.approx(4.92, abs=0.005)
    assert naive["measured_mbps"] / corrected["measured_mbps"] == pytest.approx(10.0)
    assert naive["realised_loss_ratio"] == pytest.approx(0.001566, rel=0.01)
    assert naive["measured_mbps"] == pytest.approx(60, rel=0.02)
    assert outcome.row("naive, offloads on")["measured_mbps"] > 3 * naive["measured_mbps"]


def test_duration_trap_runs_as_long_as_iperf_does() -> None:
    outcome = run("duration")
    assert outcome.row("naive")["duration_s"] == 10.0
    assert outcome.row("naive")["warmup_s"] == 0.0
    assert "run for at least" in outcome.catching_check("naive").message


def test_mtu_trap_names_the_mtu_it_needs() -> None:
    outcome = run("mtu")
    assert outcome.row("naive")["mss_bytes"] == 1460
    assert "4352" in outcome.catching_check("naive").message


def test_timestamps_trap_shows_the_twelve_bytes() -> None:
    assert run("timestamps").row("naive")["mss_bytes"] == 1448


def test_offload_trap_shows_frames_of_up_to_64_kilobytes() -> None:
    largest = run("offload").row("naive")["largest_frame_bytes"]
    assert 54 + 2 * 536 < largest <= 65_536 + 54


@pytest.mark.parametrize("name", NAMES)
def test_page_tells_the_whole_story(name: str) -> None:
    outcome = run(name)
    page = traps.text(outcome)
    assert f"trap {outcome.trap.number} of 6" in page
    for setup in outcome.trap.setups:
        assert setup.name in page
    assert "FAILED" in page
    assert "4. Which check catches it" in page
    assert outcome.trap.caught_by in page
    assert "{" not in page
    assert max(len(line) for line in page.splitlines()) <= 110


def test_page_of_a_run_that_was_stopped() -> None:
    outcome = trap("duration", BASE, simulator=FakeSimulator(interrupt_after=1))
    assert outcome.interrupted
    page = traps.text(outcome)
    assert "Stopped early" in page
    assert "{" not in page


def test_unknown_trap_lists_those_that_exist() -> None:
    with pytest.raises(ValueError, match="unknown trap 'mtus'; did you mean 'mtu'[?] Valid: duration, mtu"):
        trap("mtus", BASE)
