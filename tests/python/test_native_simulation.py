"""Simulations of the native module: wrong ones are refused, and others run as often as asked."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from lossylink import _native
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve


def given(experiment: str, **settings: Any) -> dict[str, Any]:
    """Return the configuration of an experiment; keys have two underscores for the dot."""
    chosen = {key.replace("__", "."): value for key, value in settings.items()}
    scenario = resolve(experiment, protection=["lg"], settings=chosen, seed=1)
    return configuration(scenario, scenario.protections[0])


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ({"model": "bernoulli", "p": 2.0}, "loss rate 2 is not a probability: write a number from 0 to 1"),
        (
            {"model": "bit-error-rate", "ber": -1},
            "bit error rate -1 is not a probability: write a number from 0 to 1",
        ),
        (
            {"model": "quantised", "p": 1e-7},
            "loss rate 1e-7 is below 2^-20, all that a 20-bit draw resolves: write bernoulli:1e-7",
        ),
        (
            {"model": "gilbert-elliott", "p": 0, "r": 0, "loss_good": 0, "loss_bad": 1},
            "p and r are both 0, so the chain never changes state: use a plain loss rate instead",
        ),
        ({"model": "at", "positions": [3, 3]}, "position 3 is given twice: a frame is lost once"),
        ({"model": "trace", "lost": []}, "the trace is empty: record at least one frame"),
    ],
)
def test_a_loss_that_is_none_is_refused_in_its_own_words(loss: dict[str, Any], words: str) -> None:
    stress = given("stress")
    stress["loss"]["reverse"] = loss
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        _native.Simulation(json.dumps(stress))


def test_a_link_that_cannot_be_built_is_refused_before_it_runs() -> None:
    short = given("tcp-fct") | {"path": {"rtt_ps": 1}}
    with pytest.raises(ValueError, match=r"path.rtt = 1 ps is shorter than the link's own round trip"):
        _native.Simulation(json.dumps(short))


def test_a_simulation_runs_again_on_any_number_of_threads() -> None:
    simulation = _native.Simulation(json.dumps(given("tcp-fct", flow__trials=700, loss__forward="1e-3")))
    once = simulation.run()["row"]
    assert once["trials"] == 700
    assert simulation.run(threads=2)["row"] == once


def test_parts_give_what_the_whole_gives() -> None:
    simulation = _native.Simulation(json.dumps(given("rdma-fct", flow__trials=700, loss__forward="1e-3")))
    parts = []
    for first in (0, 1):
        part = simulation.run_blocks(lambda _done, _whole: None, first, 1)
        assert part is not None
        parts.append(part)
    assert simulation.run(parts=parts)["row"] == simulation.run()["row"]
