"""The traps from the command line, on a stand-in for the compiled simulator."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from .conftest import Ended
from .fake_simulator import FakeSimulator, simulations_by

Command = Callable[..., Ended]


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-in where the compiled simulator is."""
    monkeypatch.setattr("lossylink._native.Simulation", simulations_by(FakeSimulator()))


def test_page(command: Command) -> None:
    ended = command("run", "mathis", "--trap", "mtu")
    assert ended.code == 0
    assert "trap 5 of 6" in ended.out
    assert "needs an MTU of" in " ".join(ended.out.split())


def test_json_has_a_row_for_each_set_up(command: Command) -> None:
    ended = command("run", "mathis", "--trap", "percent", "--json")
    assert ended.code == 0
    rows = json.loads(ended.out)["rows"]
    assert [row["setup"] for row in rows] == ["naive", "naive, offloads on", "corrected"]
    assert [row["checks"]["loss_ratio"]["passed"] for row in rows] == [False, False, True]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("mathis", "--trap", "mtus"), "unknown trap 'mtus'; did you mean 'mtu'? Valid: duration, mtu"),
        (("stress", "--trap", "mtu"), "--trap belongs to mathis"),
        (("mathis", "--trap", "mtu", "--output", "x"), "keeps no files"),
    ],
)
def test_mistakes(command: Command, words: tuple[str, ...], complaint: str) -> None:
    ended = command("run", *words)
    assert ended.code == 2
    assert complaint in ended.err
    assert ended.err.count("\n") == 1
