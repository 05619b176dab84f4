"""The codes of Ethernet lines: against values of 60 digits, every pattern of errors, and the limits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from lossylink.theory.phy import (
    CODES,
    UNCODED,
    Code,
    bit_error_ratio_for,
    code_named,
    codeword_error_ratio,
    frame_loss_ratio,
    group_error_ratio,
    undetected_codeword_ratio,
)

FRAMES = (64, 1518, 9000)
#: Independent errors, with 60 digits: code, bit error ratio, share of codewords, of frames of these sizes.
TABLE = [
    ("rs528", 5e-4, 5.6129e-3, (6.234e-3, 1.886e-2, 8.134e-2)),
    ("rs528", 2e-4, 1.4404e-5, (1.600e-5, 4.873e-5, 2.171e-4)),
    ("rs528", 3e-5, 8.1048e-12, (9.004e-12, 2.742e-11, 1.222e-10)),
    ("rs544", 1e-3, 1.5303e-4, (1.700e-4, 5.176e-4, 2.304e-3)),
    ("rs544", 2.4e-4, 8.1516e-13, (9.056e-13, 2.758e-12, 1.229e-11)),
    ("rs544", 1e-4, 1.3598e-18, (1.511e-18, 4.600e-18, 2.050e-17)),
    ("rs272", 1e-3, 6.4310e-3, (7.852e-3, 3.652e-2, 1.714e-1)),
    ("rs272", 3e-4, 2.1570e-6, (2.636e-6, 1.244e-5, 6.287e-5)),
    ("rs272", 1e-5, 6.5397e-18, (7.991e-18, 3.771e-17, 1.906e-16)),
]
TINY = Code(symbols=3, message_symbols=1, symbol_bits=2)
SMALL = Code(symbols=5, message_symbols=3, symbol_bits=4)


@pytest.mark.parametrize(("name", "bits", "codewords", "frames"), TABLE)
def test_ratios_are_those_of_sixty_digits(
    name: str, bits: float, codewords: float, frames: tuple[float, ...]
) -> None:
    code = CODES[name]
    assert codeword_error_ratio(code, bit_error_ratio=bits) == pytest.approx(codewords, rel=1e-4)
    for size, expected in zip(FRAMES, frames, strict=True):
        found = frame_loss_ratio(code, bit_error_ratio=bits, frame_bytes=size)
        assert found == pytest.approx(expected, rel=5e-4)


def by_every_pattern(
    code: Code, bits: float, repeat: float, line_bits: int, interleaved: int
) -> tuple[float, float]:
    """Add up the chances of all patterns of wrong line symbols: of one codeword that fails, and of any."""
    wrong = 1 - (1 - bits) ** line_bits
    fresh = wrong * (1 - repeat) / (1 - repeat * wrong)
    each = code.symbol_bits // line_bits
    single = group = 0.0
    for pattern in itertools.product((False, True), repeat=each * code.symbols * interleaved):
        chance = wrong if pattern[0] else 1 - wrong
        for before, now in itertools.pairwise(pattern):
            risk = repeat + (1 - repeat) * fresh if before else fresh
            chance *= risk if now else 1 - risk
        symbols = np.array(pattern).reshape(-1, each).any(axis=1)
        counts = symbols.reshape(-1, interleaved).sum(axis=0)
        single += chance * bool(counts[0] > code.corrects)
        group += chance * bool(counts.max() > code.corrects)
    return single, group


@pytest.mark.parametrize("repeat", [0.0, 0.3, 0.75])
@pytest.mark.parametrize(
    ("code", "line_bits", "interleaved"), [(TINY, 2, 1), (TINY, 1, 2), (TINY, 2, 4), (SMALL, 2, 1)]
)
def test_ratios_are_the_sums_over_every_pattern_of_errors(
    code: Code, line_bits: int, interleaved: int, repeat: float
) -> None:
    for bits in (1e-3, 0.1, 0.5):
        shape: dict[str, Any] = {
            "bit_error_ratio": bits,
            "repeat": repeat,
            "line_bits": line_bits,
            "interleaved": interleaved,
        }
        single, group = by_every_pattern(code, bits, repeat, line_bits, interleaved)
        assert codeword_error_ratio(code, **shape) == pytest.approx(single, rel=1e-9)
        assert group_error_ratio(code, **shape) == pytest.approx(group, rel=1e-9)


def test_runs_of_errors_come_near_to_independent_ones_as_they_vanish() -> None:
    for name, code in CODES.items():
        for bits in (1e-3, 1e-4, 1e-5):
            alone = codeword_error_ratio(code, bit_error_ratio=bits)
            nearly = codeword_error_ratio(code, bit_error_ratio=bits, repeat=1e-9)
            assert nearly == pytest.approx(alone, rel=1e-4), name


def test_runs_hit_codewords_of_a_group_together() -> None:
    shape: dict[str, Any] = {"bit_error_ratio": 1e-3, "repeat": 0.5, "interleaved": 2}
    one, any_of_two = (of(CODES["rs528"], **shape) for of in (codeword_error_ratio, group_error_ratio))
    assert one < any_of_two < 2 * one


def test_limits() -> None:
    kp4 = CODES["rs544"]
    for size in (64, 9000):
        assert frame_loss_ratio(kp4, bit_error_ratio=0.0, frame_bytes=size) == 0.0
        assert frame_loss_ratio(kp4, bit_error_ratio=0.5, frame_bytes=size) == pytest.approx(1.0)
        assert frame_loss_ratio(UNCODED, bit_error_ratio=0.0, frame_bytes=size, repeat=0.5) == 0.0
    alone, repeated = (
        frame_loss_ratio(UNCODED, bit_error_ratio=1e-9, frame_bytes=1518, repeat=a) for a in (0.0, 0.5)
    )
    assert repeated == pytest.approx(alone / 2, rel=1e-3), "two errors a run lose one frame"


@pytest.mark.parametrize("name", ["none", *CODES])
@pytest.mark.parametrize("loss", [1e-12, 1e-8, 1e-3, 0.1])
def test_a_bit_error_ratio_is_found_again(name: str, loss: float) -> None:
    code = code_named(name)
    bits = bit_error_ratio_for(loss, code, frame_bytes=1538)
    assert frame_loss_ratio(code, bit_error_ratio=bits, frame_bytes=1538) == pytest.approx(loss, rel=1e-9)


def test_what_matters_behind_kp4_lies_within_a_factor() -> None:
    """Losses from 1e-8 to 1e-3 of frames of 1,538 octets: 4.2e-4 to 1.06e-3."""
    least, most = (bit_error_ratio_for(loss, CODES["rs544"], frame_bytes=1538) for loss in (1e-8, 1e-3))
    assert least == pytest.approx(4.2e-4, rel=0.02)
    assert most == pytest.approx(1.06e-3, rel=0.005)


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


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"bit_error_ratio": 0.6}, "from 0 to 0.5, not 0.6"), ({"repeat": 1.0}, "below 1"),
     ({"line_bits": 3}, "1 .NRZ. or 2 .PAM4.")],
)  # fmt: skip
def test_impossible_errors_are_refused(settings: dict[str, float], words: str) -> None:
    given: dict[str, Any] = {"bit_error_ratio": 1e-4}
    with pytest.raises(ValueError, match=words):
        codeword_error_ratio(CODES["rs544"], **(given | settings))


def test_a_loss_that_no_line_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no bit error ratio"):
        bit_error_ratio_for(1e-17, UNCODED, frame_bytes=9000)
