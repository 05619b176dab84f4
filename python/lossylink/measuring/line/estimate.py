"""What a histogram of wrong symbols tells: whether errors come in bursts, how many, and which codewords fail.

Bursts are decided by a likelihood ratio test of a burst factor of 0. A factor below 0 is none, so that of
independent errors half of the readings show no gain, and the others one that has a chi-square distribution of
one degree (Self and Liang 1987). Of few errors the test is exact: the chance of as many errors beyond the
first of their codewords. ``benches/gauges.py`` measures how often each test, and each interval, is wrong.

The interval of the codeword error ratio is that of the chain with bursts whatever the test says: a burst
factor too small to be seen is not left out. So it holds for both kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from scipy import stats

from lossylink.measuring.fit import DOUBT, Decision, Evidence, Kind
from lossylink.measuring.goodness import LEAST_EXPECTED, Goodness
from lossylink.measuring.line import few, likely
from lossylink.measuring.line.cells import Cells, shares_of
from lossylink.measuring.line.few import EQUALISER_REPEAT, FEW, chance_of_excess, excess
from lossylink.measuring.line.likely import MOST_REPEAT, Errors, with_bursts, without_bursts
from lossylink.measuring.ratios import share_of
from lossylink.statistics import CONFIDENCE
from lossylink.statistics.arguments import FloatArray
from lossylink.statistics.estimates import Estimate

_NONE: Final = Errors(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Misfit:
    """The cell, or all cells from one on, whose count is farthest from what a model expects."""

    wrong_symbols: int
    times: float
    """The count over what was expected."""
    is_tail: bool = False
    """Whether codewords with more wrong symbols count as well."""


@dataclass(frozen=True)
class Estimated:
    """What a histogram tells of a line."""

    cells: Cells

    @cached_property
    def erred(self) -> int:
        """Codewords beyond the first cell."""
        return int(self.cells.counts[1:].sum())

    @cached_property
    def single(self) -> Errors:
        """The most likely independent errors."""
        return without_bursts(self.cells) if self.erred else _NONE

    @cached_property
    def best(self) -> Errors:
        """The most likely errors, in bursts or not."""
        return with_bursts(self.cells) if self.erred else _NONE

    @cached_property
    def chosen(self) -> Errors:
        """The errors of the kind that the test decides for."""
        return self.best if self.decision.kind is Kind.BURSTY else self.single

    @cached_property
    def likelihood_ratio(self) -> float:
        """Twice the gain in log likelihood of bursts over independent errors."""
        return max(0.0, self.single.deviance - self.best.deviance)

    @cached_property
    def p_value(self) -> float:
        """Chance of such a gain, or of as many errors together, if errors are independent."""
        if not self.erred:
            return 1.0
        if self.is_of_few:
            return chance_of_excess(self.cells, self.single.bit_error_ratio, 0.0)[1]
        gain = self.likelihood_ratio
        return float(stats.chi2.sf(gain, 1)) / 2 if gain > 0 else 1.0

    @property
    def is_of_few(self) -> bool:
        """Whether so few errors share a codeword with another that the exact tests are made."""
        return excess(self.cells) <= FEW

    @cached_property
    def decision(self) -> Decision:
        """Whether errors come in bursts; not told where the histogram allows every burst factor."""
        if not self.erred:
            return Decision(Kind.NONE_SEEN)
        if self.p_value < DOUBT:
            return Decision(Kind.BURSTY, Evidence.LIKELIHOOD, self.p_value)
        if self.repeat.high >= EQUALISER_REPEAT:
            return Decision(Kind.UNTOLD, Evidence.LIKELIHOOD, self.p_value)
        return Decision(Kind.INDEPENDENT, Evidence.LIKELIHOOD, self.p_value)

    @cached_property
    def _region(self) -> few.Region | likely.Region:
        """What may have made the histogram, by the exact tests or by the likelihood."""
        if self.is_of_few:
            return few.Region(self.cells, self.best)
        return likely.Region(self.cells, self.best, float(stats.chi2.ppf(CONFIDENCE, 1)))

    @cached_property
    def bit_error_ratio(self) -> Estimate:
        """Wrong bits over all, before the code."""
        low, high = self._region.extent(lambda ratio, _repeat: float(np.log(ratio)))
        value = self.chosen.bit_error_ratio
        low = float(np.exp(low)) if self.erred else 0.0
        return Estimate(value, min(low, value), max(float(np.exp(high)), value))

    @cached_property
    def repeat(self) -> Estimate:
        """The burst factor."""
        low, high = self._region.repeats
        value = self.best.repeat
        return Estimate(value, max(0.0, min(low, value)), min(MOST_REPEAT, max(high, value)))

    @cached_property
    def codeword_error_ratio(self) -> Estimate:
        """Codewords with too many wrong symbols over all, by the chain; the interval holds for both kinds."""
        line = self.cells.line

        def logarithm(ratio: float, repeat: float) -> float:
            return float(np.log(max(shares_of(line, ratio, repeat)[-1], np.finfo(float).tiny)))

        low, high = self._region.extent(logarithm)
        if not self.erred:
            return Estimate(0.0, 0.0, float(np.exp(high)))
        value = float(shares_of(line, self.chosen.bit_error_ratio, self.chosen.repeat)[-1])
        return Estimate(value, min(float(np.exp(low)), value), max(float(np.exp(high)), value))

    @cached_property
    def counted(self) -> Estimate | None:
        """Uncorrectable codewords over all, as counted; without one the upper end is one-sided."""
        uncorrectable = self.cells.uncorrectable
        return None if uncorrectable is None else share_of(uncorrectable, self.cells.codewords)

    @cached_property
    def goodness(self) -> Goodness | None:
        """A chi-square test of the cells against the best model; nothing where too few cells tell."""
        seen, expected, _starts = self._grouped()
        return Goodness.of(seen, expected, free=3 if self.best.repeat else 2) if self.erred else None

    @cached_property
    def fit_p_value(self) -> float | None:
        """Chance of counts as far from the best model; nothing where too few cells tell."""
        chances = [self._tail[0]] if self.goodness is None else [self._tail[0], self.goodness.p_value]
        if self.goodness is None and self._tail[0] >= DOUBT:
            return None
        return min(1.0, len(chances) * min(chances))

    @property
    def is_rejected(self) -> bool:
        """Whether no model here fits the cells."""
        return self.fit_p_value is not None and self.fit_p_value < DOUBT

    @property
    def misfit(self) -> Misfit:
        """The cells whose count is farthest from what the best model expects."""
        chance, tail = self._tail
        if self.goodness is None or chance < self.goodness.p_value:
            return tail
        seen, expected, starts = self._grouped()
        worst = int(np.argmax((seen - expected) ** 2 / expected))
        return Misfit(int(starts[worst]), float(seen[worst] / expected[worst]))

    @cached_property
    def _expected(self) -> FloatArray:
        """What the best model expects in each cell."""
        return self.cells.codewords * self.cells.shares(self.best.bit_error_ratio, self.best.repeat)

    @cached_property
    def _tail(self) -> tuple[float, Misfit]:
        """Return how likely so many codewords have so many wrong symbols, and where that is least likely.

        Chi-square merges cells of which the best model expects few codewords. So many codewords in them, or a
        few that are uncorrectable, would not be seen. Their sums from each on have Poisson counts.
        """
        cells = self.cells
        seen, rest = (one[::-1].cumsum()[::-1] for one in (cells.counts, self._expected))
        rare = np.flatnonzero(rest < LEAST_EXPECTED)
        if not self.erred or not rare.size:
            return 1.0, Misfit(0, 1.0)
        chances: FloatArray = np.asarray(stats.poisson.sf(seen[rare] - 1, rest[rare]))
        least = int(np.argmin(chances))
        at = int(rare[least])
        misfit = Misfit(int(cells.starts[at]), float(seen[at] / rest[at]), is_tail=True)
        return min(1.0, rare.size * float(chances[least])), misfit

    def _grouped(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return counts, expectations and starts of cells; the last are merged until they expect enough."""
        rest = self._expected[::-1].cumsum()[::-1]
        kept = np.arange(max(1, int((rest >= LEAST_EXPECTED).sum())))
        seen = np.add.reduceat(self.cells.counts.astype(np.float64), kept)
        return seen, np.add.reduceat(self._expected, kept), self.cells.starts[kept].astype(np.float64)
