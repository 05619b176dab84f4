"""A user's scenario in the explorer: the knobs stand where it says, and what has no knob stays in force."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from lossylink.planning.explorer import catalogue as explorer
from lossylink.planning.explorer.given import Given
from lossylink.planning.explorer.views import VIEWS

from .explorer_support import Json, as_lossylink_resolves, as_python_has_it, fill, random_state, settings

SCENARIO = """
experiment = "tcp-fct"
protection = ["none", "lg-nb"]

[link]
rate = "56Gbps"
propagation = "3us"

[loss]
forward = "quantised:1e-2"

[host]
profile = "ideal"

[run]
threads = 1
skip = false

[transport]
congestion_control = "cubic"
rto_min = "5ms"

[flow]
size = "5MB"
trials = 7
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("given") / "mine.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="module")
def made(file: Path) -> Json:
    given = Given.of(str(file), {"transport.delayed_ack": "1"})
    read: Json = json.loads(explorer.as_text(explorer.catalogue(given, planned=())))
    return read


def knob(made: Json, name: str) -> Json:
    (found,) = (knob for knob in made["views"]["link"]["knobs"] if knob["id"] == name)
    return dict(found)


def test_knobs_stand_where_the_scenario_says(made: Json) -> None:
    assert knob(made, "link.rate")["default"] == "56Gbps"
    assert knob(made, "link.rate")["choices"][0] == {"value": "56Gbps", "label": "56Gbps"}
    assert knob(made, "link.length")["default"] == 600
    assert knob(made, "transport")["default"] == "cubic"
    assert (knob(made, "flow.size")["default"], knob(made, "flow.size")["max"]) == (5_000_000, 5_000_000)
    assert [one["word"] for one in made["protections"] if one["selected"]] == ["none", "lg-nb"]


def test_losses_that_no_knob_says_stay_as_they_are(made: Json) -> None:
    losses = knob(made, "loss.model")
    assert losses["choices"][0] == {"value": losses["default"], "label": "quantised:1e-2"}
    assert made["experiments"]["tcp-fct"]["base"]["loss"]["forward"] == {"model": "quantised", "p": 0.01}


def test_how_long_one_looks_is_the_pages_own(made: Json) -> None:
    assert knob(made, "flow.trials")["default"] == 30_000


def test_settings_without_a_knob_stay_in_force(made: Json, file: Path) -> None:
    experiment, knobs = made["experiments"]["tcp-fct"], made["views"]["link"]["knobs"]
    assert experiment["command"] == "tcp-fct"
    standing = {one["id"]: one["default"] for one in knobs} | {"flow.trials": 7}
    told = fill(experiment["base"], experiment["rules"], standing)
    assert told == as_lossylink_resolves(str(file), {"transport.delayed_ack": "1"})
    draw = random.Random(47)
    for _ in range(20):
        state = random_state(knobs, draw, experiment["when"])
        said = settings(experiment["rules"], state)
        right = as_lossylink_resolves("tcp-fct", said)
        assert right["transport"]["rto_min_ps"] == 5 * 10**9
        assert as_python_has_it(fill(experiment["base"], experiment["rules"], state)) == right, state


def test_other_experiments_of_the_view_take_what_they_know(made: Json) -> None:
    rdma, stress = made["experiments"]["rdma-fct"], made["experiments"]["stress"]
    assert (rdma["command"], rdma["base"]["host"]["name"]) == ("rdma-fct", "ideal")
    assert stress["base"]["loss"]["forward"] == {"model": "quantised", "p": 0.01}
    assert stress["base"]["link"]["rate_bps"] == 56_000_000_000
    # A view that does not show the scenario's experiment stays.
    assert made["experiments"]["fabric"]["base"]["link"]["rate_bps"] == 100_000_000_000


def test_independent_losses_have_their_knob() -> None:
    given = Given.of("stress", {"loss.forward": "2%", "link.length": "3km"})
    at = {knob.id: knob.default for part in given.under(VIEWS["link"]).parts for knob in part.knobs}
    assert (at["loss.model"], at["loss.mean"], at["link.length"]) == ("independent", 0.02, 3000)


def test_the_page_opens_with_the_view_of_the_experiment(made: Json) -> None:
    assert made["opens"] == "link"
    assert {name: Given.of(name, {}).opens for name in ("rdma-fct", "fabric")} == {
        "rdma-fct": "link",
        "fabric": "fabric",
    }
