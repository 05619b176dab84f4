"""The six traps on the real simulator: its check catches every mistake, and passes on the correction."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lossylink.results.checks.verdict import Status
from lossylink.running.mathis.scenario import run_trap
from lossylink.running.mathis.traps import TRAPS, TrapRun
from lossylink.scenario.resolving import resolve

#: What the mistake does to the trial, beside failing its check: a figure of the first set-up and the last.
SYMPTOMS: dict[str, Callable[[TrapRun], bool]] = {
    "percent": lambda found: _ratio(found, "measured_mbps") > 10,
    "duration": lambda found: _of(found, 0, "loss_events") < 30 <= _of(found, -1, "loss_events"),
    "queue": lambda found: _of(found, 0, "rtt_mean_ms") > 1.05 * _of(found, 0, "rtt_min_ms"),
    "timestamps": lambda found: (_of(found, 0, "mss_bytes"), _of(found, -1, "mss_bytes")) == (1448, 1460),
    "mtu": lambda found: (_of(found, 0, "mss_bytes"), _of(found, -1, "mss_bytes")) == (1460, 4312),
    "offload": lambda found: _ratio(found, "measured_mbps") > 2,
}


def _of(found: TrapRun, place: int, key: str) -> float:
    return float(found.rows[place][key])


def _ratio(found: TrapRun, key: str) -> float:
    return _of(found, 0, key) / _of(found, -1, key)


def test_every_trap_has_its_symptom() -> None:
    assert SYMPTOMS.keys() == TRAPS.keys()


@pytest.mark.parametrize("name", SYMPTOMS)
def test_the_mistake_is_caught_and_the_correction_passes(name: str) -> None:
    found = run_trap(resolve("mathis", seed=1), name)
    *naive, corrected = [setup.name for setup in found.trap.setups]
    assert all(found.catching_check(setup).failed for setup in naive)
    assert found.catching_check(corrected).status is Status.PASSED
    assert all(check["passed"] is not False for check in found.row(corrected)["checks"].values())
    assert SYMPTOMS[name](found)
