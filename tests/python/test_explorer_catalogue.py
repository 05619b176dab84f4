"""The catalogue of the explorer: its rules give what the resolver gives, wherever the knobs stand."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from lossylink import _native
from lossylink.declared.experiments import experiment_named
from lossylink.declared.protections import name_of, parse_protection, spellings
from lossylink.planning.explorer import catalogue as explorer
from lossylink.planning.explorer.merging import without_nulls
from lossylink.scenario.keys import keys_of
from lossylink.scenario.resolving import resolve

from .explorer_support import (
    Json,
    as_lossylink_resolves,
    as_python_has_it,
    fill,
    label,
    random_state,
    settings,
)

STATES = 60


@pytest.fixture(scope="module")
def made() -> Json:
    """The catalogue as the page reads it."""
    read: Json = json.loads(explorer.as_text(explorer.catalogue(planned=())))
    return read


def experiments(made: Json) -> list[tuple[str, Json, Json]]:
    return [
        (name, made["experiments"][name], view)
        for view in made["views"].values()
        for name in view["experiments"]
    ]


def test_rules_give_the_configuration_that_the_settings_give(made: Json) -> None:
    draw = random.Random(47)
    for name, experiment, view in experiments(made):
        for _ in range(STATES):
            state = random_state(view["knobs"], draw, experiment.get("when", {}))
            said = settings(experiment["rules"], state)
            told = as_python_has_it(fill(experiment["base"], experiment["rules"], state))
            assert told == as_lossylink_resolves(experiment["command"], said), (name, state)


#: Settings of runs that take no time.
FEW = {
    "flow.trials": "200",
    "traffic.packets": "2000",
    "fabric.topology": "fat-tree:k=4",
    "fabric.points": "linkguardian-100g",
}


def row(configuration: Json) -> Json:
    """Run a configuration; how fast the machine was is no figure of it."""
    found = _native.Simulation(json.dumps(configuration)).run()["row"]
    return {key: value for key, value in found.items() if "wall" not in key}


def test_a_configuration_without_null_members_gives_the_row_of_the_whole_one(made: Json) -> None:
    for name, experiment, _ in experiments(made):
        keys = keys_of(experiment_named(experiment["command"]))
        few = {key: text for key, text in FEW.items() if key in keys}
        whole = resolve(experiment["command"], settings=few, protection=["lg"]).setups[0].configuration
        assert row(without_nulls(whole)) == row(whole), name


def test_bursts_by_mean_and_length_are_those_of_the_chain(made: Json) -> None:
    """The core turns both into the chances that Python makes of them."""
    experiment, view = made["experiments"]["tcp-fct"], made["views"]["link"]
    draw = random.Random(47)
    for _ in range(5):
        state = random_state(view["knobs"], draw, {"loss.model": ["bursts"], "transport": ["cubic"]})
        told = fill(experiment["base"], experiment["rules"], state | {"flow.trials": 200})
        assert told["loss"]["forward"].keys() == {"model", "mean", "burst"}
        assert row(told) == row(as_python_has_it(told)), state


def test_a_pages_default_state_is_the_base(made: Json) -> None:
    for name, experiment, view in experiments(made):
        state = {knob["id"]: knob["default"] for knob in view["knobs"]}
        state |= {
            knob: values[0]
            for knob, values in experiment.get("when", {}).items()
            if state[knob] not in values
        }
        assert fill(experiment["base"], experiment["rules"], state) == experiment["base"], name


def test_a_protections_label_is_read_back_to_the_value_that_the_rules_give(made: Json) -> None:
    draw = random.Random(47)
    for spelling in made["protections"]:
        knobs = [*spelling.get("argument", {"knobs": []})["knobs"], *spelling["options"]]
        for _ in range(STATES):
            state = random_state(knobs, draw, {})
            told = fill(spelling["value"], spelling["rules"], state)
            assert told == without_nulls(parse_protection(label(spelling, state)).value), state
            name_of(label(spelling, state))


def test_every_spelling_of_the_registry_is_there_with_its_options(made: Json) -> None:
    every = [spelling for _, spelling in spellings()]
    assert [one["word"] for one in made["protections"]] == [one.word for one in every]
    for found, spelling in zip(made["protections"], every, strict=True):
        # What a page cannot offer: a code and a time in one text.
        wanted = [option.name for option in spelling.options if option.forms != ("K/H@TIME",)]
        assert [knob["id"] for knob in found["options"]] == wanted
        assert ("argument" in found) == (spelling.argument is not None)


def options(made: Json, word: str) -> dict[str, Any]:
    (spelling,) = (one for one in made["protections"] if one["word"] == word)
    return {
        knob["id"]: knob for knob in [*spelling["options"], *spelling.get("argument", {}).get("knobs", [])]
    }


def test_ranges_of_options_are_those_of_the_core(made: Json) -> None:
    code = options(made, "fec")
    assert [(code[part]["min"], code[part]["max"]) for part in "kh"] == [(1, 128), (0, 32)]
    copies = [choice["value"] for choice in options(made, "lg")["copies"]["choices"]]
    assert copies[0] == "auto"
    for value in copies:
        parse_protection(f"lg:copies={value}")
    with pytest.raises(ValueError):
        parse_protection(f"lg:copies={int(copies[-1]) + 1}")


def test_what_is_beyond_the_measured_switch_is_marked(made: Json) -> None:
    notes = made["views"]["link"]["notes"]
    (beyond,) = (note for note in notes if note["kind"] == "extrapolated")
    assert beyond["when"] == {"link.rate": ["200G", "400G", "800G"]}
    assert {note["kind"] for note in notes} == {"calibrated", "extrapolated", "assumed"}


def test_every_headline_has_a_label_and_a_meaning(made: Json) -> None:
    for _, experiment, _ in experiments(made):
        for key in experiment["headline"]:
            assert made["columns"][key]["meaning"], key
