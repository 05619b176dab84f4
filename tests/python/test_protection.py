"""Protection spellings and their options."""

from __future__ import annotations

import pytest

from lossylink.errors import UserError
from lossylink.scenario.protection import CodeChange, parse_protection


def test_defaults_are_the_published_protocol() -> None:
    ordered = parse_protection("lg")
    assert (ordered.kind, ordered.copies, ordered.holes) == ("lg", None, 5)
    assert ordered.tail
    assert ordered.order
    assert ordered.backpressure
    assert ordered.native(dummy_count=3)["dummies"] == 3


def test_non_blocking_has_no_order_and_no_backpressure() -> None:
    protection = parse_protection("lg-nb:deduplicate=off")
    assert not protection.order
    assert not protection.backpressure
    assert not protection.deduplicate


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("lg:tail=off", "tail", False),
        ("lg:order=off", "order", False),
        ("lg:backpressure=off", "backpressure", False),
        ("lg:copies=3", "copies", 3),
        ("lg:copies=auto", "copies", None),
        ("lg:dummies=1", "dummies", 1),
        ("lg:holes=unlimited", "holes", None),
        ("lg:holes=7,copies=2", "holes", 7),
        ("fec:25/5", "fec_k", 25),
        ("fec-model:5/5", "fec_h", 5),
        ("fec:1/0", "fec_h", 0),
        ("fec:25/5,release=in-order", "fec_release", "in-order"),
        ("fec:25/5,flush=200us", "fec_flush_ps", 200_000_000),
        ("fec:25/5,flush=auto", "fec_flush_ps", None),
        ("fec-model:25/5,flush=off", "fec_flush_ps", None),
        ("fec:25/5,meter=police", "fec_meter", "police"),
        ("fec:5/5,meter=mark,priority=data", "fec_priority", "data"),
        ("fec-model:5/5,meter=mark", "fec_meter", "mark"),
        ("fec:25/5,change=5/5@2s", "fec_change", CodeChange(at_ps=2 * 10**12, k=5, h=5)),
    ],
)
def test_options(text: str, key: str, value: object) -> None:
    protection = parse_protection(text)
    assert getattr(protection, key) == value
    assert protection.label == text


def test_options_of_codes_reach_only_the_simulator_and_only_when_given() -> None:
    words = parse_protection("fec:25/5").native(dummy_count=3)
    assert not {"fec_release", "fec_flush_ps", "fec_meter", "fec_priority", "fec_change"} & words.keys()
    words = parse_protection("fec:25/5,flush=1ms,change=5/5@1ms").native(dummy_count=3)
    assert words["fec_flush_ps"] == 10**9
    assert words["fec_change"] == {"at_ps": 10**9, "k": 5, "h": 5}


def test_common_options_reach_the_codes_that_take_them() -> None:
    common = {"release": "in-order", "meter": "police", "copies": 2}
    assert parse_protection("fec:5/5", common).fec_release == "in-order"
    assert parse_protection("fec-model:5/5", common).fec_release is None
    assert parse_protection("fec-model:5/5", common).fec_meter == "police"


def test_own_options_win_over_common_ones_that_apply() -> None:
    common = {"copies": 1, "tail": False}
    assert parse_protection("lg:copies=3", common).copies == 3
    assert not parse_protection("lg:copies=3", common).tail
    assert parse_protection("none", common).copies is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lgnb", "did you mean 'lg-nb'"),
        ("lg:copys=2", "did you mean 'copies'"),
        ("lg:copies=0", "from 1 to 16"),
        ("lg:copies=two", "not a whole number"),
        ("lg:tail", "write tail=VALUE"),
        ("lg:tail=perhaps", "neither on nor off"),
        ("lg-nb:backpressure=on", "unknown option"),
        ("none:copies=2", "takes no option"),
        ("fec", "write fec:K/H"),
        ("fec:0/5", "1 to 128 data packets"),
        ("fec:129/5", "1 to 128 data packets"),
        ("fec:5/33", "at most 32 parity"),
        ("fec:5", "write fec:K/H"),
        ("fec:5/5,relase=eager", "did you mean 'release'.*Valid: change, flush, meter, priority, release"),
        ("fec-model:5/5,release=eager", "unknown option of fec-model"),
        ("fec-model:5/5,priority=data", "unknown option of fec-model"),
        ("fec:5/5,release=late", "none of eager, in-order"),
        ("fec:5/5,meter=on", "none of off, police, mark"),
        ("fec:5/5,flush=off", "flush=off is for fec-model"),
        ("fec:5/5,flush=0", "is zero"),
        ("fec:5/5,change=0/5@1s", "1 to 128 data packets"),
        ("fec:5/5,change=5/5", "write change=5/5@2s"),
        ("", "unknown protection"),
    ],
)
def test_refusals(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        parse_protection(text)
