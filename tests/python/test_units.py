"""Quantities: every spelling, exactness, and refusals that say the mend."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossylink.units import (
    describe_ratio,
    parse_count,
    parse_length,
    parse_positive_time,
    parse_rate,
    parse_ratio,
    parse_size,
    parse_switch,
    parse_time,
)


@pytest.mark.parametrize(
    ("text", "bits_per_second"),
    [
        ("100Gbps", 100 * 10**9),
        ("100gbit", 100 * 10**9),
        ("100 Gbit/s", 100 * 10**9),
        ("100Gb/s", 100 * 10**9),
        ("10G", 10 * 10**9),
        ("2.5Gbps", 25 * 10**8),
        ("940Mbps", 940 * 10**6),
        ("64kbit", 64_000),
        ("1Tbps", 10**12),
        ("1Mibit", 2**20),
        ("800bps", 800),
    ],
)
def test_rates(text: str, bits_per_second: int) -> None:
    assert parse_rate(text) == bits_per_second


@pytest.mark.parametrize(
    ("text", "picoseconds"),
    [
        ("3ms", 3 * 10**9),
        ("30us", 30_000_000),
        ("30µs", 30_000_000),
        ("100ns", 100_000),
        ("70s", 70 * 10**12),
        ("124.59ns", 124_590),
        ("1usec", 10**6),
        ("2min", 120 * 10**12),
        ("0", 0),
        (0, 0),
        ("1e3ns", 10**6),
    ],
)
def test_times(text: str, picoseconds: int) -> None:
    assert parse_time(text) == picoseconds


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("24387B", 24_387),
        ("560KB", 560_000),
        ("1MB", 10**6),
        ("64KiB", 65_536),
        (1460, 1460),
        ("2_000_000", 2_000_000),
    ],
)
def test_sizes(text: object, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


def test_lengths_are_delays_at_two_thirds_of_the_speed_of_light() -> None:
    assert parse_length("20m") == 100_000
    assert parse_length("1km") == parse_time("5us")
    assert parse_length("0.2m") == parse_time("1ns")


@pytest.mark.parametrize(
    ("parse", "text", "says"),
    [
        (parse_rate, "100", "has no unit; write it like 100Gbps"),
        (parse_rate, "100Gbs", "did you mean 'gbps'"),
        (parse_rate, "fast", "is not a rate"),
        (parse_rate, "-1Gbps", "is negative"),
        (parse_rate, "0Gbps", "is zero"),
        (parse_rate, "0.5bps", "not a whole number of bits per second"),
        (parse_rate, True, "is not a rate"),
        (parse_rate, None, "is not a rate"),
        (parse_time, "3", "has no unit"),
        (parse_time, "3 lightyears", "unknown unit"),
        (parse_time, "0.5ps", "not a whole number of picoseconds"),
        (parse_time, "nan", "is not a time"),
        (parse_positive_time, "0s", "is zero"),
        (parse_size, "0", "is zero"),
        (parse_size, "10mbit", "unknown unit"),
        (parse_size, "1.5", "not a whole number of bytes"),
        (parse_count, "0", "is zero"),
        (parse_count, "many", "is not a count"),
        (parse_length, "20ft", "unknown unit"),
        (parse_switch, "maybe", "neither on nor off"),
    ],
)
def test_refusals_say_what_is_wrong(parse: object, text: object, says: str) -> None:
    assert callable(parse)
    with pytest.raises(ValueError, match=says):
        parse(text)


@pytest.mark.parametrize(
    ("text", "ratio"),
    [("1e-3", 1e-3), ("0.1%", 1e-3), ("0.1 %", 1e-3), (1, 1.0), ("100%", 1.0), (0, 0.0), ("0%", 0.0)],
)
def test_ratios(text: object, ratio: float) -> None:
    assert parse_ratio(text) == ratio


@pytest.mark.parametrize(
    "text", ["nan", "inf", "-inf", "-0.1", "-1%", "101%", "1.0001", "15.66", 2, "abc", "1e-3x", ""]
)
def test_ratios_outside_zero_to_one_are_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_ratio(text)


def test_a_bare_percentage_is_refused_with_both_readings() -> None:
    with pytest.raises(ValueError, match=r"15\.66 % or a ratio\?.*'15\.66%' \(a ratio of 0\.1566\)"):
        parse_ratio("15.66")


@given(st.integers(min_value=1, max_value=10**12))
def test_whole_numbers_of_base_units_survive_exactly(number: int) -> None:
    assert parse_time(f"{number}ps") == number
    assert parse_rate(f"{number}bps") == number
    assert parse_size(f"{number}B") == number


@given(st.floats(min_value=0.0, max_value=1.0, allow_subnormal=False))
def test_a_ratio_and_its_percentage_read_the_same(ratio: float) -> None:
    assert parse_ratio(repr(ratio)) == ratio
    assert math.isclose(parse_ratio(f"{ratio * 100:.17g}%"), ratio, rel_tol=1e-12, abs_tol=1e-300)


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    for parse in (parse_rate, parse_time, parse_size, parse_count, parse_length, parse_ratio):
        try:
            parse(text)
        except ValueError as error:
            assert str(error)


def test_ratio_and_percentage_are_both_spelt_out() -> None:
    assert describe_ratio(0.1566) == "loss 0.1566 = 15.66 %"
