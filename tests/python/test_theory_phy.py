"""Lost codewords and frames of Ethernet lines: against values of 60 digits, and at the limits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from lossylink.theory.phy import (
    CODES,
    UNCODED,
    Code,
    Line,
    bit_error_ratio_for,
    code_named,
    codeword_error_ratio,
    frame_loss_ratio,
    group_error_ratio,
    symbol_error_distribution,
)

FRAMES = (64, 1518, 9000)
#: Independent errors, with 60 digits: code, bit error ratio, share of codewords, of frames of these sizes.
TABLE = """
rs528 5e-4   5.6129e-03 6.234e-03 1.886e-02 8.134e-02
rs528 2e-4   1.4404e-05 1.600e-05 4.873e-05 2.171e-04
rs528 1e-4   8.9269e-08 9.917e-08 3.020e-07 1.346e-06
rs528 3e-5   8.1048e-12 9.004e-12 2.742e-11 1.222e-10
rs528 1e-5   1.3558e-15 1.506e-15 4.586e-15 2.044e-14
rs544 1e-3   1.5303e-04 1.700e-04 5.176e-04 2.304e-03
rs544 5e-4   2.7926e-08 3.102e-08 9.447e-08 4.209e-07
rs544 3e-4   2.1432e-11 2.381e-11 7.250e-11 3.231e-10
rs544 2.4e-4 8.1516e-13 9.056e-13 2.758e-12 1.229e-11
rs544 1e-4   1.3598e-18 1.511e-18 4.600e-18 2.050e-17
rs272 1e-3   6.4310e-03 7.852e-03 3.652e-02 1.714e-01
rs272 3e-4   2.1570e-06 2.636e-06 1.244e-05 6.287e-05
rs272 1e-4   5.2794e-10 6.451e-10 3.044e-09 1.539e-08
rs272 1e-5   6.5397e-18 7.991e-18 3.771e-17 1.906e-16
"""
BURSTS: dict[str, Any] = {"bit_error_ratio": 1e-3, "repeat": 0.5}


@pytest.mark.parametrize("row", TABLE.split("\n")[1:-1])
def test_ratios_are_those_of_sixty_digits(row: str) -> None:
    name, bits, codewords, *frames = row.split()
    code, given = CODES[name], float(bits)
    assert f"{codeword_error_ratio(code, bit_error_ratio=given):.4e}" == codewords
    found = [frame_loss_ratio(code, bit_error_ratio=given, frame_bytes=size) for size in FRAMES]
    assert [f"{ratio:.3e}" for ratio in found] == frames


@pytest.mark.parametrize(
    "options", [{}, {"interleaved": 2}, {"interleaved": 2, "lanes": 4}, {"line_bits": 1}]
)
@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_runs_of_errors_come_near_to_independent_ones_as_they_vanish(
    name: str, code: Code, options: dict[str, Any]
) -> None:
    for bits in (1e-3, 1e-4, 1e-5):
        of: dict[str, Any] = {"bit_error_ratio": bits, "frame_bytes": 1518} | options
        alone = frame_loss_ratio(code, **of)
        assert frame_loss_ratio(code, repeat=1e-12, **of) == pytest.approx(alone, rel=1e-6), name


def test_four_codewords_on_four_lanes_come_near_to_independent_ones_too() -> None:
    of: dict[str, Any] = {"bit_error_ratio": 1e-3, "interleaved": 4, "lanes": 4}
    alone, nearly = (group_error_ratio(CODES["rs272"], repeat=repeat, **of) for repeat in (0.0, 1e-13))
    assert nearly == pytest.approx(alone, rel=1e-9)


def test_the_distribution_of_wrong_symbols_adds_up() -> None:
    code = CODES["rs544"]
    for options in ({"repeat": 0.0}, {"repeat": 0.5, "lanes": 2}, {"repeat": 0.5, "precoded": True}):
        of: dict[str, Any] = {"bit_error_ratio": 1e-3} | options
        shares = symbol_error_distribution(code, **of)
        assert shares.shape == (code.corrects + 2,)
        assert shares.sum() == pytest.approx(1, abs=1e-11)
        assert shares[-1] == codeword_error_ratio(code, **of)
    mean = symbol_error_distribution(CODES["rs544"], bit_error_ratio=1e-5) @ np.arange(17)
    assert mean == pytest.approx(544 * (1 - (1 - 1e-5) ** 10), rel=1e-9), "nothing is cut off"


@pytest.mark.parametrize("options", [{}, {"repeat": 0.5}, {"repeat": 0.75, "precoded": True, "lanes": 2}])
@pytest.mark.parametrize("name", ["none", "firecode", "rs528", "rs272", "rs20/16/6"])
def test_more_wrong_bits_lose_more_frames(name: str, options: dict[str, Any]) -> None:
    code = code_named(name)
    if not isinstance(code, Code):
        options = options | {"lanes": 1}
    ratios = np.geomspace(1e-20, 0.1, 30)
    lost = [frame_loss_ratio(code, bit_error_ratio=bits, frame_bytes=64, **options) for bits in ratios]
    assert all(less < more or more == pytest.approx(1) for less, more in itertools.pairwise(lost))
    assert lost[0] > 0, "no ratio is too small to have digits"


def test_runs_hit_codewords_of_a_group_together() -> None:
    of: dict[str, Any] = BURSTS | {"interleaved": 2}
    one, any_of_two = (ratio(CODES["rs528"], **of) for ratio in (codeword_error_ratio, group_error_ratio))
    assert one < any_of_two < 2 * one


def by_poisson_bursts(bits: float, repeat: float) -> float:
    """Return KP4's codeword error ratio where bursts come by Poisson's law, each with its own wrong symbols.

    A symbol that two bursts hit counts twice. Panjer's recursion adds up the symbols of all bursts.
    """
    lengths, top = np.arange(1, 300), 100
    shares = (1 - repeat) * repeat ** (lengths - 1)
    hit = [np.bincount(1 + (begun + lengths - 1) // 5, weights=shares, minlength=top) for begun in range(5)]
    each, bursts = np.mean(hit, axis=0), 544 * 5 * 2 * bits * (1 - repeat)
    total = np.zeros(top)
    total[0] = np.exp(-bursts)
    for count in range(1, top):
        parts = np.arange(1, count + 1)
        total[count] = bursts / count * (parts * each[parts]) @ total[count - parts]
    return float(total[16:].sum())


@pytest.mark.parametrize("repeat", [0.0, 0.5, 0.75])
@pytest.mark.parametrize("bits", [1e-5, 1e-4, 3e-4])
def test_bursts_that_count_shared_symbols_twice_are_a_little_worse(bits: float, repeat: float) -> None:
    chain = codeword_error_ratio(CODES["rs544"], bit_error_ratio=bits, repeat=repeat)
    assert chain < by_poisson_bursts(bits, repeat) < 1.3 * chain


@pytest.mark.parametrize("options", [{"precoded": True}, {"repeat": 1e-3}, {"repeat": 0.5, "lanes": 4}])
def test_no_line_is_too_good_for_digits(options: dict[str, Any]) -> None:
    of: dict[str, Any] = {"bit_error_ratio": 1e-20, "interleaved": 2} | options
    one, any_of_two = (ratio(CODES["rs544"], **of) for ratio in (codeword_error_ratio, group_error_ratio))
    assert 0 < one <= any_of_two <= 2 * one * (1 + 1e-9)


def test_lanes_and_precoders_change_what_a_burst_does() -> None:
    """Bits in turn spread a burst over symbols, and a precoder makes two errors of a burst."""
    kp4 = CODES["rs544"]
    alone, spread = (codeword_error_ratio(kp4, lanes=lanes, **BURSTS) for lanes in (1, 4))
    assert spread > 100 * alone
    assert codeword_error_ratio(kp4, lanes=4, precoded=True, **BURSTS) < spread


def test_a_precoded_line_has_only_so_many_errors() -> None:
    """A chain without repeats changes its state at most every second time, on average."""
    of: dict[str, Any] = {"frame_bytes": 64, "precoded": True}
    most = Line(0.0, precoded=True).most_bit_errors
    assert most == pytest.approx(1 - 0.5**0.5)
    assert frame_loss_ratio(CODES["rs544"], bit_error_ratio=most, **of) == pytest.approx(1)
    with pytest.raises(ValueError, match=r"at most 0.2929 on a precoded line") as caught:
        frame_loss_ratio(CODES["rs544"], bit_error_ratio=most + 1e-9, **of)
    assert "\n" not in str(caught.value)
    nrz = frame_loss_ratio(UNCODED, bit_error_ratio=0.5, line_bits=1, **of)
    assert nrz == pytest.approx(1), "half of all bits, wrong in turn"


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


@pytest.mark.parametrize("options", [{}, {"repeat": 0.5, "line_bits": 1}, {"repeat": 0.75, "precoded": True}])
@pytest.mark.parametrize("name", ["none", "firecode", *CODES, "rs20/16/6"])
def test_a_bit_error_ratio_is_found_again(name: str, options: dict[str, Any]) -> None:
    for loss in (1e-12, 1e-8, 1e-3, 0.1, 0.9):
        code = code_named(name)
        bits = bit_error_ratio_for(loss, code, frame_bytes=1538, **options)
        found = frame_loss_ratio(code, bit_error_ratio=bits, frame_bytes=1538, **options)
        assert found == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("options", [{"interleaved": 2, "lanes": 4}, {"interleaved": 4, "precoded": True}])
@pytest.mark.parametrize("loss", [1e-6, 0.9])
def test_a_bit_error_ratio_of_codewords_in_turn_is_found_again(loss: float, options: dict[str, Any]) -> None:
    code = Code(symbols=60, message_symbols=50, symbol_bits=8)
    of: dict[str, Any] = {"frame_bytes": 200, "repeat": 0.5} | options
    bits = bit_error_ratio_for(loss, code, **of)
    assert frame_loss_ratio(code, bit_error_ratio=bits, **of) == pytest.approx(loss, rel=1e-9)


def test_what_matters_behind_kp4_lies_within_a_factor() -> None:
    """Losses from 1e-8 to 1e-3 of frames of 1,538 octets: 4.2e-4 to 1.06e-3."""
    least, most = (bit_error_ratio_for(loss, CODES["rs544"], frame_bytes=1538) for loss in (1e-8, 1e-3))
    assert least == pytest.approx(4.2e-4, rel=0.02)
    assert most == pytest.approx(1.06e-3, rel=0.005)


def test_a_loss_that_no_line_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no bit error ratio from 1e-20 to 0.5 loses 1e-17"):
        bit_error_ratio_for(1e-17, UNCODED, frame_bytes=9000)
