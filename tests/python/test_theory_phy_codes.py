"""Codes of Ethernet lines: what they carry, what they cost, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from lossylink.theory.phy import (
    CODES,
    FIRECODE,
    UNCODED,
    Code,
    LineCode,
    code_named,
    codeword_error_ratio,
    codeword_wait_ns,
    frame_loss_ratio,
    group_error_ratio,
    line_overhead,
    standard_frame_loss_ratio,
    undetected_codeword_ratio,
)


@pytest.mark.parametrize(
    ("name", "octets", "overhead"),
    [("none", 1, 1 / 32), ("firecode", 256, 1 / 32), ("rs528", 640, 1 / 32), ("rs544", 640, 1 / 16),
     ("rs272", 320, 1 / 16), ("rs255/223/8", Fraction(223 * 8 * 32, 257), 257 / 256 * 255 / 223 - 1)],
)  # fmt: skip
def test_a_codeword_carries_octets_of_the_stream(name: str, octets: Fraction, overhead: float) -> None:
    code = code_named(name)
    assert code.message_bytes == octets
    assert line_overhead(code) == pytest.approx(overhead, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "rate_gbps", "interleaved", "wait_ns"),
    [("rs544", 100, 1, 51.2), ("rs528", 25, 1, 204.8), ("rs544", 400, 2, 25.6), ("rs544", 800, 4, 25.6),
     ("rs272", 100, 1, 25.6), ("firecode", 10, 1, 204.8), ("none", 10, 1, 0.0)],
)  # fmt: skip
def test_a_decoder_waits_for_its_codewords(
    name: str, rate_gbps: float, interleaved: int, wait_ns: float
) -> None:
    found = codeword_wait_ns(code_named(name), rate_bps=rate_gbps * 1e9, interleaved=interleaved)
    assert found == pytest.approx(wait_ns)


@pytest.mark.parametrize(("interleaved", "factor"), [(1, 1.125), (2, 2.125), (4, 4.125)])
def test_the_convention_of_the_standard(interleaved: int, factor: float) -> None:
    found = standard_frame_loss_ratio(CODES["rs544"], codeword_error_ratio=1e-9, interleaved=interleaved)
    assert found == pytest.approx(factor * 1e-9)
    low_latency = standard_frame_loss_ratio(CODES["rs272"], codeword_error_ratio=1e-9)
    assert low_latency == pytest.approx(1.25e-9), "four smallest frames in 320 octets"
    assert standard_frame_loss_ratio(CODES["rs544"], codeword_error_ratio=1.0) == 1.0


def test_the_limits_that_the_standard_names_are_its_convention() -> None:
    """KP4 at 2.4e-4: 9.2e-13 on 100 Gb/s (802.3cd), 1.7e-12 where two codewords take turns (802.3bs)."""
    single = codeword_error_ratio(CODES["rs544"], bit_error_ratio=2.4e-4)
    found = [
        standard_frame_loss_ratio(CODES["rs544"], codeword_error_ratio=single, interleaved=turns)
        for turns in (1, 2)
    ]
    assert [f"{ratio:.2e}" for ratio in found] == ["9.17e-13", "1.73e-12"]


def test_a_full_code_takes_few_words_for_codewords() -> None:
    full = Code(symbols=1023, message_symbols=993)
    share = undetected_codeword_ratio(full, codeword_error_ratio=1.0)
    assert share == pytest.approx(1 / math.factorial(15), rel=0.15)
    assert undetected_codeword_ratio(CODES["rs544"], codeword_error_ratio=1.0) < share


@pytest.mark.parametrize(
    ("name", "words"),
    [("rs545", "no code; valid: none, firecode, rs528, rs544, rs272"), ("rs10/12/4", "fewer message symbols"),
     ("rs20/10/4", r"fewer symbols than 2\^4")],
)  # fmt: skip
def test_what_is_no_code_is_refused_in_one_line(name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        code_named(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("code", [UNCODED, FIRECODE])
def test_a_bound_that_is_not_known_is_refused(code: LineCode) -> None:
    with pytest.raises(ValueError, match="holds for Reed-Solomon codes: give one"):
        undetected_codeword_ratio(code, codeword_error_ratio=1e-9)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"bit_error_ratio": 0.6}, "from 0 to 0.5, not 0.6"), ({"repeat": 1.0}, "below 1"),
     ({"line_bits": 3}, "1 .NRZ. or 2 .PAM4."), ({"lanes": 3}, "lanes must be 1, 2, 4 or 8, not 3"),
     ({"interleaved": 3}, "interleaved must be 1, 2 or 4, not 3")],
)  # fmt: skip
def test_impossible_errors_are_refused(settings: dict[str, float], words: str) -> None:
    given: dict[str, Any] = {"bit_error_ratio": 1e-4}
    with pytest.raises(ValueError, match=words):
        codeword_error_ratio(CODES["rs544"], **(given | settings))


@pytest.mark.parametrize(
    ("code", "settings", "words"),
    [(UNCODED, {"lanes": 2}, "are for Reed-Solomon codes: leave them at 1"),
     (FIRECODE, {"interleaved": 2}, "are for Reed-Solomon codes: leave them at 1"),
     (Code(20, 16, 5), {}, "2 line_bits do not divide the 5 bits of a symbol: give 1"),
     (Code(21, 16), {"lanes": 4}, "4 lanes do not divide 21 symbols: give fewer")],
)  # fmt: skip
def test_a_line_that_a_code_does_not_fit_is_refused(
    code: LineCode, settings: dict[str, Any], words: str
) -> None:
    for repeat in (0.0, 0.5):
        with pytest.raises(ValueError, match=words) as caught:
            frame_loss_ratio(code, bit_error_ratio=1e-4, frame_bytes=64, repeat=repeat, **settings)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "interleaved", "words"),
    [(Code(255, 191, 8), 4, "bursts over 4 codewords that correct 32 symbols each take too long"),
     (Code(4000, 2000, 12), 1, "at most 512 symbols, not 1000: give a shorter code")],
)  # fmt: skip
def test_bursts_that_take_too_long_are_refused(code: Code, interleaved: int, words: str) -> None:
    of: dict[str, Any] = {"bit_error_ratio": 0.02, "interleaved": interleaved}
    assert 0 < group_error_ratio(code, **of) < 1, "independent errors are quick"
    with pytest.raises(ValueError, match=words) as caught:
        group_error_ratio(code, repeat=0.5, **of)
    assert "\n" not in str(caught.value)
