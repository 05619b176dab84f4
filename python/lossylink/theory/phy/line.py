"""How a line makes bit errors: alone or in runs, precoded or not, one lane or several bit by bit.

An equaliser with decision feedback takes a wrong line symbol into the next one: after an error the next line
symbol is wrong with probability a, besides errors of its own. Line symbols so form a chain of two states,
right and wrong. A precoder 1/(1 + D) leaves two wrong symbols of each run: the first, and the one behind the
last. So a symbol is wrong when the chain changes its state.

A wrong line symbol has each bit wrong as often as bits of a line without runs have, given that one is: with
two bits b (1 - b), (1 - b) b and b b, over their sum. The bit error ratio b is counted in front of the code
("pre-FEC"), behind the precoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypedDict

import numpy as np

from lossylink.statistics.arguments import FloatArray
from lossylink.theory.codewords import any_of
from lossylink.theory.phy.codes import Code, LineCode

PAM4_BITS: Final = 2
"""Bits of a line symbol on all lanes from 50 Gb/s on; NRZ lanes have 1."""
LANES: Final = (1, 2, 4, 8)
"""Lanes that share a line bit by bit; a lane carries a code symbol, then its next one."""
INTERLEAVED: Final = (1, 2, 4)
"""Codewords that take code symbols in turn."""


class LineOptions(TypedDict, total=False):
    """What a line may have besides its bit error ratio; `Line` says what each is."""

    repeat: float
    line_bits: int
    interleaved: int
    precoded: bool
    lanes: int


@dataclass(frozen=True)
class Line:
    """A line, by its errors and by the order in which it carries bits.

    Parameters
    ----------
    bit_error_ratio
        Wrong bits over all, in front of the code and behind the precoder, from 0 to 0.5.
    repeat
        a, the probability with which an error makes the next line symbol wrong: 0 for independent errors, up
        to 0.5 with NRZ and 0.75 with PAM4.
    line_bits
        Bits of a line symbol: 2 for PAM4, 1 for NRZ. Of independent errors nothing depends on it.
    interleaved
        Codewords that take code symbols in turn: 1, 2 or 4.
    precoded
        Whether a precoder leaves two errors of each run.
    lanes
        Lanes that share the line bit by bit, each with a code symbol of its own: 1, 2, 4 or 8.
    """

    bit_error_ratio: float
    repeat: float = 0.0
    line_bits: int = PAM4_BITS
    interleaved: int = 1
    precoded: bool = False
    lanes: int = 1

    def __post_init__(self) -> None:
        """Refuse what no line is."""
        if not 0 <= self.bit_error_ratio <= 0.5:
            raise ValueError(f"bit_error_ratio must be from 0 to 0.5, not {self.bit_error_ratio:g}")
        if not 0 <= self.repeat < 1:
            raise ValueError(f"repeat must be from 0 to below 1, not {self.repeat:g}")
        if self.line_bits not in (1, PAM4_BITS):
            raise ValueError(f"line_bits must be 1 (NRZ) or 2 (PAM4), not {self.line_bits}")
        if self.interleaved not in INTERLEAVED:
            raise ValueError(f"interleaved must be 1, 2 or 4, not {self.interleaved}")
        if self.lanes not in LANES:
            raise ValueError(f"lanes must be 1, 2, 4 or 8, not {self.lanes}")
        most = self.most_bit_errors
        if self.bit_error_ratio > most:
            raise ValueError(
                f"bit_error_ratio must be at most {most:.4g} on a precoded line that repeats errors with "
                f"probability {self.repeat:g}, not {self.bit_error_ratio:g}"
            )

    def check(self, code: LineCode) -> None:
        """Refuse a code whose codewords the line's order of bits does not fit."""
        if not isinstance(code, Code):
            if self.interleaved > 1 or self.lanes > 1:
                raise ValueError("interleaved and lanes are for Reed-Solomon codes: leave them at 1")
        elif code.symbol_bits * self.lanes % self.line_bits:
            raise ValueError(
                f"{self.line_bits} line_bits do not divide the {code.symbol_bits} bits of a symbol: give 1"
            )
        elif code.symbols * self.interleaved % self.lanes:
            raise ValueError(f"{self.lanes} lanes do not divide {code.symbols} symbols: give fewer lanes")

    @property
    def independent(self) -> bool:
        """Whether bits are wrong independently of each other."""
        return self.repeat == 0 and not self.precoded

    @property
    def most_bit_errors(self) -> float:
        """The greatest bit error ratio that such a line can have: a chain changes its state only so often."""
        if not self.precoded:
            return 0.5
        apart = 1 - self.repeat
        symbols = 2 * apart / (1 + np.sqrt(apart)) ** 2
        return min(0.5, float(-np.expm1(np.log1p(-symbols) / self.line_bits)))

    @property
    def behind_right(self) -> float:
        """How likely the chain goes from right to wrong."""
        a, seen = self.repeat, any_of(self.bit_error_ratio, self.line_bits)
        if not self.precoded:
            return seen * (1 - a) / (1 - a * seen)
        # The smaller root f of seen = 2 f (1 - wrong(f)), in the form that subtracts nothing near to equal.
        linear = 2 * (1 - a) - a * seen
        root = np.sqrt(max(0.0, linear**2 - 8 * (1 - a) ** 2 * seen))
        return float(2 * seen * (1 - a) / (linear + root))

    @property
    def behind_wrong(self) -> float:
        """How likely the chain stays wrong."""
        return self.repeat + (1 - self.repeat) * self.behind_right

    @property
    def start(self) -> FloatArray:
        """Shares of the chain's two states, right and wrong."""
        fresh = self.behind_right
        wrong = fresh / ((1 - self.repeat) * (1 - fresh) + fresh)
        return np.array([1 - wrong, wrong])

    def steps(self) -> tuple[FloatArray, FloatArray]:
        """Return from state to state of the chain: over a line symbol that is seen right, and seen wrong."""
        fresh = self.behind_right
        whole = np.array([[1 - fresh, fresh], [(1 - self.repeat) * (1 - fresh), self.behind_wrong]])
        seen_wrong = ~np.eye(2, dtype=bool) if self.precoded else np.array([[False, True]] * 2)
        return np.where(seen_wrong, 0.0, whole), np.where(seen_wrong, whole, 0.0)

    def patterns(self) -> list[tuple[float, tuple[int, ...]]]:
        """Return how likely a wrong line symbol has which of its bits wrong."""
        if self.line_bits == 1:
            return [(1.0, (0,))]
        both = self.bit_error_ratio / (2 - self.bit_error_ratio)
        one = (1 - self.bit_error_ratio) / (2 - self.bit_error_ratio)
        return [(one, (0,)), (one, (1,)), (both, (0, 1))]


@lru_cache(maxsize=64)
def block(line: Line, symbol_bits: int) -> FloatArray:
    """Return from state to state of the chain over one code symbol of each lane, by which of them are wrong.

    The first axis counts in binary: symbol i of the block is wrong where bit i is set. Bits go out in turn,
    the first of every symbol, then the second.
    """
    right, wrong = line.steps()
    struck = [_struck(line, place) for place in range(line.lanes)]
    sets = np.arange(2**line.lanes)
    shares = np.zeros((sets.size, 2, 2))
    shares[0] = np.eye(2)
    for place in range(0, line.lanes * symbol_bits, line.line_bits):
        after, hit = shares @ right, shares @ wrong
        for symbols, chance in struck[place % line.lanes].items():
            np.add.at(after, sets | symbols, chance * hit)
        shares = after
    return shares


def _struck(line: Line, place: int) -> dict[int, float]:
    """Return how likely a wrong line symbol makes which code symbols of the block wrong, one bit for each."""
    chances: dict[int, float] = {}
    for chance, bits in line.patterns():
        symbols = sum({1 << (place + bit) % line.lanes for bit in bits})
        chances[symbols] = chances.get(symbols, 0.0) + chance
    return chances
