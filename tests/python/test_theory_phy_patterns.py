"""Codewords and groups of small codes against the sum over every pattern of wrong bits."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

from lossylink.theory.phy import (
    UNCODED,
    Code,
    Firecode,
    LineCode,
    group_error_ratio,
    group_transitions,
    symbol_error_distribution,
)

Array = NDArray[Any]
LEAST = Code(symbols=2, message_symbols=1, symbol_bits=2)
TINY = Code(symbols=3, message_symbols=1, symbol_bits=2)
FOUR = Code(symbols=4, message_symbols=2, symbol_bits=3)
SMALL = Code(symbols=5, message_symbols=3, symbol_bits=4)
SHORT_BURST = Firecode(bits=12, message_bits=8, burst_bits=3)


@dataclass(frozen=True)
class Patterns:
    """Every pattern of a group's line symbols: each is right, or some of its bits are wrong.

    Where all bits of a line symbol are of one code symbol, all of them stand for some of them.
    """

    code: LineCode
    line_bits: int
    interleaved: int
    lanes: int

    @property
    def bitwise(self) -> bool:
        return self.lanes > 1 or isinstance(self.code, Firecode)

    def bits(self) -> Array:
        total = (
            self.code.bits if isinstance(self.code, Firecode) else self.code.symbols * self.code.symbol_bits
        )
        symbols = total * self.interleaved // self.line_bits
        kinds = np.array(list(itertools.product((0, 1), repeat=self.line_bits)))
        if not self.bitwise:
            kinds = kinds[[0, -1]]
        chosen = np.indices((len(kinds),) * symbols).reshape(symbols, -1).T
        return np.asarray(kinds[chosen])

    def wrong_symbols(self, bits: Array) -> Array:
        """Return wrong symbols by pattern and codeword: of each block of lanes the bits go out in turn."""
        assert not isinstance(self.code, Firecode)
        blocks = bits.reshape(len(bits), -1, self.code.symbol_bits, self.lanes).any(axis=2)
        return np.asarray(blocks.reshape(len(bits), -1, self.interleaved).sum(axis=1))

    def failed(self, bits: Array) -> Array:
        if not isinstance(self.code, Firecode):
            return np.asarray((self.wrong_symbols(bits) > self.code.corrects).any(axis=1))
        flat = bits.reshape(len(bits), -1)
        first, last = flat.argmax(axis=1), flat.shape[1] - 1 - flat[:, ::-1].argmax(axis=1)
        return np.asarray(flat.any(axis=1) & (last - first >= self.code.burst_bits))

    def chances(self, bits: Array, ratio: float, repeat: float, precoded: bool) -> Array:
        """Return how likely each pattern is, by the chain's state in front of the group and at its end."""
        fresh = fresh_errors(ratio, repeat, self.line_bits, precoded)
        onto_wrong = np.array([fresh, repeat + (1 - repeat) * fresh])
        wrong_bits = bits.sum(axis=2)
        each = ratio**wrong_bits * (1 - ratio) ** (self.line_bits - wrong_bits)
        each = np.where((wrong_bits > 0) & self.bitwise, each / (1 - (1 - ratio) ** self.line_bits), 1.0)
        found = np.zeros((len(bits), 2, 2))
        for start in (0, 1):
            state, chance = np.full(len(bits), start), each.prod(axis=1)
            for wrong in (wrong_bits > 0).T:
                now = (state ^ wrong) if precoded else wrong.astype(int)
                chance = chance * np.where(now == 1, onto_wrong[state], 1 - onto_wrong[state])
                state = now
            found[np.arange(len(bits)), start, state] = chance
        return found


def fresh_errors(ratio: float, repeat: float, line_bits: int, precoded: bool) -> float:
    """Find by trying how likely a right state turns wrong where symbols are seen wrong as often as asked."""
    seen = 1 - (1 - ratio) ** line_bits

    def excess(fresh: float) -> float:
        stay = repeat + (1 - repeat) * fresh
        wrong = fresh / (1 - stay + fresh)
        return (2 * fresh * (1 - wrong) if precoded else wrong) - seen

    most = 1 / (1 + (1 - repeat) ** -0.5) if precoded else 1.0
    return float(brentq(excess, 0, most, xtol=1e-18, rtol=1e-14))


def stationary(transitions: Array) -> Array:
    """Return the shares of states that a whole group leaves alone."""
    leave = transitions[0, 1], transitions[1, 0]
    return np.asarray([leave[1], leave[0]]) / float(sum(leave))


@pytest.mark.parametrize("precoded", [False, True])
@pytest.mark.parametrize("repeat", [0.0, 0.3, 0.75])
@pytest.mark.parametrize(
    ("code", "line_bits", "interleaved", "lanes"),
    [
        (TINY, 2, 1, 1), (TINY, 1, 2, 1), (TINY, 2, 4, 1), (TINY, 2, 2, 2), (TINY, 1, 2, 2), (LEAST, 2, 4, 1),
        (LEAST, 2, 4, 2), (LEAST, 2, 4, 4), (LEAST, 2, 4, 8), (LEAST, 1, 2, 4), (FOUR, 2, 1, 2),
        (FOUR, 2, 1, 4), (FOUR, 1, 1, 4), (SMALL, 2, 1, 1), (UNCODED, 1, 1, 1), (UNCODED, 2, 1, 1),
        (SHORT_BURST, 1, 1, 1), (SHORT_BURST, 2, 1, 1),
    ],
)  # fmt: skip
def test_ratios_are_the_sums_over_every_pattern_of_errors(
    code: LineCode, line_bits: int, interleaved: int, lanes: int, repeat: float, precoded: bool
) -> None:
    patterns = Patterns(code, line_bits, interleaved, lanes)
    bits = patterns.bits()
    failed = patterns.failed(bits)
    for ratio in (1e-3, 0.09):
        options: dict[str, Any] = {"repeat": repeat, "line_bits": line_bits, "interleaved": interleaved}
        options |= {"bit_error_ratio": ratio, "precoded": precoded, "lanes": lanes}
        chances = patterns.chances(bits, ratio, repeat, precoded)
        expected = chances[~failed].sum(axis=0), chances[failed].sum(axis=0)
        found = group_transitions(code, **options)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        start = stationary(sum(expected))
        assert group_error_ratio(code, **options) == pytest.approx(
            float((start @ expected[1]).sum()), rel=1e-9
        )
        if not isinstance(code, Firecode):
            counts = np.minimum(patterns.wrong_symbols(bits)[:, 0], code.corrects + 1)
            single = np.bincount(counts, weights=(start @ chances).sum(axis=1), minlength=code.corrects + 2)
            np.testing.assert_allclose(symbol_error_distribution(code, **options), single, rtol=1e-9)
