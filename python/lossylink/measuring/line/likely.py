"""The bit error ratio and the burst factor that make a histogram most likely, and what else may have made it.

The deviance of a histogram is a sum of squares, so that nonlinear least squares finds its least point. What
lies within a limit above the least is the region of a likelihood ratio test (profile likelihood), and its
extent in any quantity is an interval of that quantity.

Errors that repeat themselves inside a code symbol cost no further symbol. So a histogram tells the share of
wrong symbols better than the bit error ratio, and the two parameters lie along a valley. The search goes in a
level, the logarithm of the bit error ratio that would have as many wrong symbols, and the burst factor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from scipy import optimize

from lossylink.measuring.line.cells import Cells, rs_code, shares_of
from lossylink.scenario.coded_line import CodedLine
from lossylink.statistics.arguments import FloatArray

MOST_REPEAT: Final = 0.95
"""The highest burst factor that is looked at: above those of equalisers, so that theirs lie inside."""

LEAST_BER, MOST_BER = 1e-19, 0.1
"""Bit error ratios that are looked at: a wrong bit in a month at 1.6 Tb/s, and a line that is dead."""

#: Where a search begins: nearly alone, and in bursts.
_STARTS: Final = (0.02, 0.4)
#: Least squares end when a step changes the deviance, or the place, by no more than this share.
_RISE, _STEP = 1e-9, 1e-13
#: Share of the range of burst factors to which the one that gives an extent is looked for: the extent is flat
#: there, so that its own error is the square.
_FINE: Final = 0.02
#: How often the least point of a parabola is looked for again at most.
_LOOKS: Final = 8

Quantity = Callable[[float, float], float]
"""Of a bit error ratio, with which it rises, and a burst factor."""


@dataclass(frozen=True)
class Errors:
    """How a line errs: its bit error ratio before the code, and how often an error repeats itself."""

    bit_error_ratio: float
    repeat: float
    deviance: float
    """Twice the log likelihood that it lacks to the counts."""


@dataclass(frozen=True)
class _Valley:
    """Levels of bit errors: along one the mean number of wrong symbols stays, whatever the burst factor."""

    cells: Cells
    reference: float
    """A bit error ratio near those that are looked at."""

    @classmethod
    def of(cls, cells: Cells) -> _Valley:
        """Take the bit error ratio of independent errors with the mean of the counts."""
        code = rs_code(cells.line)
        mean = float(cells.starts @ cells.counts) / cells.codewords
        wrong = min(mean / code.symbols, 0.5)
        ratio = -np.expm1(np.log1p(-wrong) / code.symbol_bits)
        return cls(cells, float(np.clip(ratio, 10 * LEAST_BER, MOST_BER / 4)))

    def ratio(self, level: float, repeat: float) -> float:
        """Return the bit error ratio of a level."""
        logarithm = level + self._single - _mean_logarithm(self.cells.line, self.reference, repeat)
        return float(np.exp(np.clip(logarithm, np.log(LEAST_BER), np.log(MOST_BER))))

    @cached_property
    def _single(self) -> float:
        return _mean_logarithm(self.cells.line, self.reference, 0.0)

    def searched(self, repeat: float | None) -> Errors:
        """Return the least deviance: from a burst factor on, or without bursts where there is none."""
        level = np.log(self.reference)
        bounds = ([np.log(LEAST_BER), 0.0], [np.log(MOST_BER), MOST_REPEAT])
        free = 1 if repeat is None else 2

        def ratio_and_repeat(at: FloatArray) -> tuple[float, float]:
            factor = 0.0 if repeat is None else float(at[1])
            return self.ratio(float(at[0]), factor), factor

        def residuals(at: FloatArray) -> FloatArray:
            return self.cells.residuals(*ratio_and_repeat(at))

        found = optimize.least_squares(
            residuals,
            [level, repeat or 0.0][:free],
            bounds=(bounds[0][:free], bounds[1][:free]),
            jac="3-point",
            x_scale="jac",
            xtol=_STEP,
            ftol=_RISE,
            gtol=_STEP,
        )
        return Errors(*ratio_and_repeat(found.x), 2 * float(found.cost))


@lru_cache(maxsize=1024)
def _mean_logarithm(line: CodedLine, bit_error_ratio: float, repeat: float) -> float:
    """Return the logarithm of the mean number of wrong symbols in a codeword."""
    shares = shares_of(line, bit_error_ratio, repeat)
    return float(np.log(np.arange(shares.size) @ shares))


def without_bursts(cells: Cells) -> Errors:
    """Return the most likely bit error ratio of independent errors."""
    return _Valley.of(cells).searched(None)


def with_bursts(cells: Cells) -> Errors:
    """Return the most likely bit error ratio and burst factor, which may be none."""
    valley = _Valley.of(cells)
    return min((valley.searched(start) for start in (None, *_STARTS)), key=lambda one: one.deviance)


@dataclass(frozen=True)
class Region:
    """What lies within a limit above the least deviance."""

    cells: Cells
    best: Errors
    limit: float

    def extent(self, quantity: Quantity) -> tuple[float, float]:
        """Return the least and the greatest value of a quantity."""
        return -self._greatest(quantity, -1), self._greatest(quantity, 1)

    @cached_property
    def repeats(self) -> tuple[float, float]:
        """The least and the greatest burst factor."""
        return self._end(0.0), self._end(MOST_REPEAT)

    def _end(self, bound: float) -> float:
        best = self.best.repeat
        if best == bound or self._room(bound) >= 0:
            return bound
        return float(optimize.brentq(self._room, min(best, bound), max(best, bound), xtol=1e-9, rtol=1e-6))

    def _greatest(self, quantity: Quantity, sign: int) -> float:
        def value(repeat: float) -> float:
            level = self._edge(float(repeat), sign)
            if level is None:
                return -np.inf
            return sign * quantity(self._valley.ratio(level, float(repeat)), float(repeat))

        ends = self.repeats
        values = [value(end) for end in (*ends, self.best.repeat)]
        if ends[1] > ends[0]:
            found = optimize.minimize_scalar(
                lambda repeat: -value(repeat),
                bounds=ends,
                method="bounded",
                options={"xatol": _FINE * (ends[1] - ends[0])},
            )
            values.append(-float(found.fun))
        return max(values)

    @cached_property
    def _valley(self) -> _Valley:
        return _Valley.of(self.cells)

    @cached_property
    def _level(self) -> float:
        """The level of the best point."""
        return float(
            2 * np.log(self.best.bit_error_ratio)
            - np.log(self._valley.ratio(float(np.log(self.best.bit_error_ratio)), self.best.repeat))
        )

    def _room(self, repeat: float) -> float:
        """Return how far below its limit the deviance with a burst factor is, by roots: about linear."""
        risen = max(0.0, self._parabola(repeat)[1] - self.best.deviance)
        return float(np.sqrt(self.limit) - np.sqrt(risen))

    def _deviance(self, level: float, repeat: float) -> float:
        return self.cells.deviance(self._valley.ratio(level, repeat), repeat)

    @cached_property
    def _width(self) -> float:
        """How far from the best level the deviance rises by 1, about."""
        erred = max(1.0, float(self.cells.counts[1:].sum()))
        return float(1 / np.sqrt(erred))

    def _parabola(self, repeat: float) -> tuple[float, float, float]:
        """Return the level of the least deviance with a burst factor, that deviance, half its curvature."""
        level, step = self._level, self._width
        for _ in range(_LOOKS):
            left, middle, right = (self._deviance(level + at * step, repeat) for at in (-1, 0, 1))
            curvature = (left + right - 2 * middle) / 2
            if curvature <= 0:
                break
            shift = (left - right) / (4 * curvature)
            if abs(shift) < 1:
                return level + shift * step, middle - curvature * shift**2, curvature / step**2
            level += float(np.clip(shift, -1e6, 1e6)) * step
        return level, self._deviance(level, repeat), np.inf

    def _edge(self, repeat: float, sign: int) -> float | None:
        """Return the level at which the deviance meets the limit: by the parabola, and a step from there."""
        level, least, curvature = self._parabola(repeat)
        room = self.limit - (least - self.best.deviance)
        if room < 0:
            return None
        reach = sign * float(np.sqrt(room / curvature))
        risen = self._deviance(level + reach, repeat) - least
        return level + reach * (float(np.sqrt(room / risen)) if risen > 0 else 1.0)
