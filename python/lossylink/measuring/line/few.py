"""The region of bit error ratios and burst factors that few errors allow, by two exact tests.

One test is of the codewords with an error among all (binomial), the other of the errors beyond the first in
them. That number has an exact distribution, whatever the codewords are: the power of a polynomial. Both tests
together are wrong at most as often as the confidence says (Bonferroni). So the region covers the truth at
least as often, also where a likelihood ratio is not yet what it is in the limit of many counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from scipy import optimize

from lossylink.measuring.line.cells import Cells
from lossylink.measuring.line.likely import LEAST_BER, MOST_BER, Errors, Quantity
from lossylink.statistics import CONFIDENCE
from lossylink.statistics.arguments import FloatArray
from lossylink.statistics.estimates import binomial_interval

FEW: Final = 100
"""Errors beyond the first of their codewords up to which the exact tests are made."""

EQUALISER_REPEAT: Final = 0.75
"""The highest burst factor of an equaliser, that of PAM4. It is taken as known: few errors do not tell."""

#: Burst factors that are looked at, and more of them about the one that gives the extent.
_PLACES, _FINER = 17, 9
#: Halvings of the way to an end of the burst factors.
_HALVES: Final = 12
#: Chance of an error for each side of each of the two tests.
_TAIL: Final = (1 - CONFIDENCE) / 4


def excess(cells: Cells) -> int:
    """Return by how many cells codewords with an error lie beyond the first cell of errors, in all."""
    return int(np.maximum(np.arange(cells.counts.size) - 1, 0) @ cells.counts)


def chance_of_excess(cells: Cells, bit_error_ratio: float, repeat: float) -> tuple[float, float]:
    """Return how likely the excess is at most, and at least, what was counted, given how many erred."""
    erred, seen = int(cells.counts[1:].sum()), excess(cells)
    shares = cells.shares(bit_error_ratio, repeat)[1:]
    chances = _power(shares / shares.sum(), erred, seen + 1)
    below = float(chances[:seen].sum())
    return min(1.0, below + float(chances[seen])), max(0.0, 1 - below)


def _power(shares: FloatArray, times: int, length: int) -> FloatArray:
    """Return the first coefficients of a power of a polynomial, whose terms are all positive."""
    result: FloatArray = np.eye(1, length)[0]
    base: FloatArray = np.zeros(length)
    kept = min(length, shares.size)
    base[:kept] = shares[:kept]
    while times:
        if times & 1:
            result = np.convolve(result, base)[:length]
        base = np.convolve(base, base)[:length]
        times >>= 1
    return result


def _straightened(share: float) -> float:
    """Return log(-log(1 - share)), which is nearly linear in the logarithm of the bit error ratio."""
    return float(np.log(-np.log1p(-min(share, 1 - np.finfo(float).eps))))


@dataclass(frozen=True)
class Allowed:
    """Bit error ratios that the tests allow with a burst factor."""

    repeat: float
    least: float
    most: float


class Region:
    """Every pair of a bit error ratio and a burst factor that neither test rejects.

    The burst factors that are left lie about the most likely one. Where the tests reject all of them, the
    second one is left out: the region is wider then.
    """

    def __init__(self, cells: Cells, best: Errors) -> None:
        self._cells = cells
        erred = binomial_interval(int(cells.counts[1:].sum()), cells.codewords, confidence=1 - 2 * _TAIL)
        self._erred = (erred.low, erred.high)
        self._at = lru_cache(maxsize=None)(self._search)
        candidates = (
            min(best.repeat, EQUALISER_REPEAT),
            *np.linspace(0.0, EQUALISER_REPEAT, _PLACES).tolist(),
        )
        self._inside = next((one for one in candidates if self._narrowed(one) is not None), None)

    def extent(self, quantity: Quantity) -> tuple[float, float]:
        """Return the least and the greatest value of a quantity that rises with the bit error ratio."""
        least = self._farthest(lambda one: -quantity(one.least, one.repeat))
        return -least, self._farthest(lambda one: quantity(one.most, one.repeat))

    @cached_property
    def repeats(self) -> tuple[float, float]:
        """The least and the greatest burst factor that the tests allow."""
        return self._end(0.0), self._end(EQUALISER_REPEAT)

    def _end(self, bound: float) -> float:
        """Return the outermost burst factor that is allowed, by halves."""
        if self._inside is None or self._at(bound) is not None:
            return bound
        allowed, refused = self._inside, bound
        for _ in range(_HALVES):
            middle = (allowed + refused) / 2
            if self._at(middle) is not None:
                allowed = middle
            else:
                refused = middle
        return refused

    def _farthest(self, value: Callable[[Allowed], float]) -> float:
        places = np.linspace(*self.repeats, _PLACES)
        values = [-np.inf if (one := self._at(float(place))) is None else value(one) for place in places]
        best = int(np.argmax(values))
        around = np.linspace(places[max(best - 1, 0)], places[min(best + 1, _PLACES - 1)], _FINER)
        finer = [value(one) for place in around if (one := self._at(float(place))) is not None]
        return max([values[best], *finer])

    def _search(self, repeat: float) -> Allowed | None:
        """Return what both tests allow, or the first one alone where they would leave nothing at all."""
        if self._inside is not None:
            return self._narrowed(repeat)
        return Allowed(repeat, *(self._ratio_of(share, repeat) for share in self._erred))

    def _narrowed(self, repeat: float) -> Allowed | None:
        """Narrow the bit error ratios that the first test allows to those that the second one allows."""
        least, most = (self._ratio_of(share, repeat) for share in self._erred)
        if self._tail(least, repeat, 0) < 0 or self._tail(most, repeat, 1) < 0:
            return None
        if self._tail(most, repeat, 0) < 0:
            most = self._crossing(least, most, repeat, 0)
        if self._tail(least, repeat, 1) < 0:
            least = self._crossing(least, most, repeat, 1)
        return Allowed(repeat, least, most) if least <= most else None

    def _ratio_of(self, share: float, repeat: float) -> float:
        """Return the bit error ratio with which that share of codewords errs."""

        def lacking(logarithm: float) -> float:
            erring = self._cells.shares(float(np.exp(logarithm)), repeat)[1:].sum()
            return _straightened(float(erring)) - _straightened(share)

        ends = np.log(LEAST_BER), np.log(MOST_BER)
        if share <= 0 or lacking(ends[0]) >= 0:
            return LEAST_BER
        return (
            MOST_BER if lacking(ends[1]) <= 0 else float(np.exp(optimize.brentq(lacking, *ends, xtol=1e-9)))
        )

    def _tail(self, bit_error_ratio: float, repeat: float, side: int) -> float:
        return chance_of_excess(self._cells, bit_error_ratio, repeat)[side] - _TAIL

    def _crossing(self, least: float, most: float, repeat: float, side: int) -> float:
        """Return the bit error ratio at which one side of the second test begins to reject."""
        ends = np.log(least), np.log(most)
        signs = [self._tail(float(np.exp(end)), repeat, side) for end in ends]
        if signs[0] * signs[1] > 0:
            return most if side == 0 else least
        return float(
            np.exp(optimize.brentq(lambda at: self._tail(float(np.exp(at)), repeat, side), *ends, xtol=1e-6))
        )
