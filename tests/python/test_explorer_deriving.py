"""Rules are found by asking: of a resolver that is followed, and of one that no rule describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lossylink.planning.explorer.deriving import Part, Resolve, Saying, WrongRuleError, check, derive
from lossylink.planning.explorer.filling import filled
from lossylink.planning.explorer.knobs import Choice, Number


def choice(name: str, *values: str) -> Part:
    knob = Choice(
        id=name, label=name, meaning=name, choices={value: value for value in values}, default=values[0]
    )
    return Part(knobs=(knob,), sayings=(Saying(settings={name: f"{{{name}}}"}),))


def number(name: str, *, whole: bool = False) -> Part:
    knob = Number(
        id=name, label=name, meaning=name, scale="linear", least=1, most=100, default=2, whole=whole
    )
    return Part(knobs=(knob,), sayings=(Saying(settings={name: f"{{{name}}}"}),))


def rules(parts: list[Part], resolve: Resolve) -> tuple[Any, list[Any]]:
    base, found = derive(parts, resolve, only={})
    check(parts, resolve, base, found, only={}, states=50)
    return base, [rule for rule in found if "patch" in rule]


def test_a_number_has_a_factor_and_a_rest() -> None:
    _, found = rules([number("length", whole=True)], lambda said: {"ps": 5000 * int(said["length"]) + 7})
    assert found == [{"patch": {"ps": {"$": "length", "times": 5000, "whole": True, "plus": 7}}}]


def test_choices_that_go_together_have_no_rule_in_common() -> None:
    parts = [choice("rate", "1", "2"), choice("mode", "a", "b")]
    base, found = rules(parts, dict)
    assert base == {"rate": "1", "mode": "a"}
    assert [list(rule["when"]) for rule in found] == [["rate"], ["mode"]]


def test_choices_that_do_not_commute_have_a_rule_together() -> None:
    def resolve(said: Mapping[str, str]) -> dict[str, Any]:
        return {"sum": int(said["one"]) + int(said["two"])}

    _, found = rules([choice("one", "0", "1"), choice("two", "0", "5")], resolve)
    assert found[-1] == {"when": {"one": ["1"], "two": ["5"]}, "patch": {"sum": 6}}


def test_values_with_one_patch_are_one_rule() -> None:
    _, found = rules([choice("code", "none", "a", "b")], lambda said: {"coded": said["code"] != "none"})
    assert found == [{"when": {"code": ["a", "b"]}, "patch": {"coded": True}}]


def test_a_member_that_goes_is_removed() -> None:
    def resolve(said: Mapping[str, str]) -> dict[str, Any]:
        return {"ordered": {}} if said["order"] == "on" else {"free": {"again": True}}

    base, found = rules([choice("order", "on", "off")], resolve)
    assert found[0]["patch"] == {"ordered": None, "free": {"again": True}}
    assert filled(base, found, {"order": "off"}) == {"free": {"again": True}}


@pytest.mark.parametrize(
    "resolve",
    [
        lambda said: {"square": float(said["n"]) ** 2},
        lambda said: {"text": said["n"]},
        lambda said: {"capped": min(50.0, float(said["n"]))},
    ],
)
def test_what_is_no_multiple_of_a_number_is_refused(resolve: Resolve) -> None:
    with pytest.raises(WrongRuleError):
        derive([number("n")], resolve, only={})


def test_two_numbers_in_one_place_are_refused() -> None:
    with pytest.raises(WrongRuleError):
        rules([number("n"), number("m")], lambda said: {"product": float(said["n"]) * float(said["m"])})


def test_four_choices_that_only_meet_all_together_are_found_by_the_check() -> None:
    parts = [choice(name, "off", "on") for name in "abcd"]
    with pytest.raises(WrongRuleError, match="the rules miss"):
        rules(parts, lambda said: {"all": all(value == "on" for value in said.values())})
