"""Protection spellings, their options, and the values that simulator and data plane take."""

from __future__ import annotations

from typing import Any

import pytest

from lossylink.declared.protections import Protection, parse_protection
from lossylink.errors import UserError


def value(text: str, common: dict[str, Any] | None = None) -> dict[str, Any]:
    return parse_protection(text, common).value


def test_defaults_are_the_published_protocol() -> None:
    assert value("lg") == {
        "family": "linkguardian",
        "copies": None,
        "control_copies": None,
        "dummies": None,
        "holes": 5,
        "mode": {"ordered": {"backpressure": True}},
    }
    assert value("lg-nb")["mode"] == {"non-blocking": {"deduplicate": True}}
    assert value("none") == {"family": "none"}


def test_defaults_of_the_codes_are_the_published_ones() -> None:
    code = {"k": 25, "h": 5, "flush_ps": None, "meter": "off", "change": None}
    assert value("fec:25/5") == {"family": "fec", **code, "release": "eager", "priority": "off"}
    assert value("fec-model:25/5") == {"family": "fec-model", **code}


def test_non_blocking_has_no_order_and_no_backpressure() -> None:
    assert value("lg-nb:deduplicate=off")["mode"] == {"non-blocking": {"deduplicate": False}}
    assert value("lg:order=off") == value("lg-nb")
    assert value("lg:order=off,deduplicate=off") == value("lg-nb:deduplicate=off")


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("lg:tail=off", "dummies", 0),
        ("lg:tail=off,dummies=2", "dummies", 0),
        ("lg:backpressure=off", "mode", {"ordered": {"backpressure": False}}),
        ("lg:copies=3", "copies", 3),
        ("lg:copies=16", "copies", 16),
        ("lg:copies=auto", "copies", None),
        ("lg-nb:control_copies=3", "control_copies", 3),
        ("lg:control_copies=auto", "control_copies", None),
        ("lg:dummies=1", "dummies", 1),
        ("lg:dummies=0", "dummies", 0),
        ("lg:holes=unlimited", "holes", None),
        ("lg:holes=7,copies=2", "holes", 7),
        ("fec:25/5", "k", 25),
        ("fec:128/32", "h", 32),
        ("fec-model:5/5", "h", 5),
        ("fec:1/0", "h", 0),
        ("fec:25/5,release=in-order", "release", "in-order"),
        ("fec:25/5,flush=200us", "flush_ps", 200_000_000),
        ("fec:25/5,flush=auto", "flush_ps", None),
        ("fec-model:25/5,flush=off", "flush_ps", None),
        ("fec:25/5,meter=police", "meter", "police"),
        ("fec:5/5,meter=mark,priority=data", "priority", "data"),
        ("fec-model:5/5,meter=mark", "meter", "mark"),
        ("fec:25/5,change=5/5@2s", "change", {"at_ps": 2 * 10**12, "k": 5, "h": 5}),
    ],
)
def test_options(text: str, key: str, expected: object) -> None:
    protection = parse_protection(text)
    assert protection.value[key] == expected
    assert protection.label == text


def test_common_options_reach_the_protections_that_take_them() -> None:
    common = {"release": "in-order", "meter": "police", "copies": 2}
    assert value("fec:5/5", common)["release"] == "in-order"
    assert "release" not in value("fec-model:5/5", common)
    assert value("fec-model:5/5", common)["meter"] == "police"
    assert value("none", common) == {"family": "none"}


def test_own_options_win_over_common_ones_that_apply() -> None:
    common = {"copies": 1, "tail": False}
    assert value("lg:copies=3", common)["copies"] == 3
    assert value("lg:copies=3", common)["dummies"] == 0
    assert value("lg:copies=3,tail=on", common)["dummies"] is None


@pytest.mark.parametrize("text", ["none", "lg", "lg-nb", "fec:25/5", "fec-model:5/1"])
def test_a_value_is_called_by_its_shortest_spelling(text: str) -> None:
    assert Protection.of(value(text)) == parse_protection(text)


def test_live_a_bare_link_has_no_protection_at_all() -> None:
    assert parse_protection("none").live_value is None
    assert parse_protection("fec:5/5").live_value == value("fec:5/5")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lgnb", "did you mean 'lg-nb'"),
        ("lg:copys=2", "did you mean 'copies'"),
        ("lg:copies=0", "from 1 to 16"),
        ("lg:copies=17", "copies 17 is not a whole number from 1 to 16"),
        ("lg:copies=two", "not a whole number"),
        ("lg:holes=0", "from 1 to 255"),
        ("lg:dummies=256", "from 0 to 255"),
        ("lg:tail", "write tail=VALUE"),
        ("lg:tail=perhaps", "neither on nor off"),
        ("lg-nb:backpressure=on", "lg-nb takes no option 'backpressure'; lg has it$"),
        ("none:copies=2", "none takes no option 'copies'; lg and lg-nb have it$"),
        ("lg:flush=1us", "lg takes no option 'flush'; fec and fec-model have it$"),
        ("none:colour=red", "none takes no option 'colour'$"),
        ("fec", "write fec:K/H, for instance fec:25/5"),
        ("fec:0/5", "1 to 128 data frames"),
        ("fec:129/5", "1 to 128 data frames"),
        ("fec:5/33", "at most 32 parity"),
        ("fec:5", "write fec:K/H"),
        ("fec:5/5,relase=eager", "did you mean 'release'.*Valid: change, flush, meter, priority, release"),
        ("fec-model:5/5,release=eager", "fec-model takes no option 'release'; fec has it$"),
        ("fec-model:5/5,priority=data", "fec-model takes no option 'priority'; fec has it$"),
        ("fec:5/5,release=late", "none of eager, in-order"),
        ("fec:5/5,meter=on", "none of off, police, mark"),
        ("fec:5/5,flush=off", "flush=off is for fec-model"),
        ("fec:5/5,flush=0", "is zero"),
        ("fec:5/5,change=0/5@1s", "1 to 128 data frames"),
        ("fec:5/5,change=5/5", "write change=5/5@2s"),
        ("", "unknown protection"),
    ],
)
def test_refusals(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        parse_protection(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fec-model:5/5", "fec-model is a model of the simulator; live, use fec:K/H"),
        ("fec:5/5,meter=mark", "live, fec takes no option meter"),
        ("fec:5/5,release=in-order", "live, fec takes no option release"),
    ],
)
def test_live_refusals(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        parse_protection(text).check(live=True)
