"""The decisions of the explorer are those of ``lossylink plan``, in its words."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product

import pytest
from msgspec.structs import replace

from lossylink.cli.exits import MISTAKE
from lossylink.planning.explorer.decisions import KNOBS, decisions

from .conftest import Ended
from .explorer_support import Json

#: A part of the grid: something to take, with and without order, and a link that nothing saves.
SOME = {"rate": ["25G"], "loss": ["1e-8", "1e-4", "0.97"], "target": ["1e-10"], "length": ["100m"]}


@pytest.fixture(scope="module")
def made() -> Json:
    some = tuple(replace(knob, choices={value: value for value in SOME[knob.id]}) for knob in KNOBS)
    return decisions(some)


def test_an_entry_stands_at_the_values_of_the_knobs(made: Json) -> None:
    assert [knob["id"] for knob in made["knobs"]] == list(SOME)
    assert list(made["entries"]) == ["|".join(values) for values in product(*SOME.values())]
    assert {made["map"]["x"], made["map"]["y"]} < SOME.keys()


def test_winner_sentence_and_figures_are_those_of_the_command(
    made: Json, command: Callable[..., Ended]
) -> None:
    winners = set()
    for entry in made["entries"].values():
        ended = command(*entry["command"].split()[1:], "--json")
        winners.add(entry["winner"])
        if ended.code == MISTAKE:
            assert (ended.err, entry["winner"]) == (f"error: {entry['sentence']}\n", None)
            continue
        told = json.loads(ended.out)
        assert entry["winner"] == told["recommended"]
        assert entry["sentence"] == f"take {told['recommended']}: {told['reason']}"
        for row, right in zip(entry["rows"], told["rows"], strict=True):
            assert row["protection"] == right["protection"]
            assert row["verdict"] == {True: "yes", False: "no", None: "not testable"}[right["meets_target"]]
            for key, value in row["values"].items():
                assert value == (None if right[key] is None else float(f"{right[key]:.4g}")), key
    assert None in winners
    assert len(winners) > 1


def test_a_link_that_nothing_saves_has_its_figures(made: Json) -> None:
    lost = [entry for entry in made["entries"].values() if entry["winner"] is None]
    assert lost
    assert all(row["verdict"] == "no" for entry in lost for row in entry["rows"])
