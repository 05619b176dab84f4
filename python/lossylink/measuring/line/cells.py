"""A histogram of a code as cells, and how likely a bit error ratio and a burst factor make it.

The cells are those of the histogram, and the uncorrectable codewords where they are counted. Beside all
codewords counted each cell has a multinomial count. A deviance is twice the log likelihood that a model lacks
to the counts themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lossylink.errors import UserError
from lossylink.measuring.line.gauges import Bin, Gauges
from lossylink.scenario.coded_line import CodedLine
from lossylink.statistics.arguments import FloatArray
from lossylink.theory.phy import CODES, Code, symbol_error_distribution


@lru_cache(maxsize=256)
def shares_of(line: CodedLine, bit_error_ratio: float, repeat: float) -> FloatArray:
    """Return how likely a codeword has 0, 1, ... wrong symbols, and last how likely it has too many."""
    return symbol_error_distribution(rs_code(line), bit_error_ratio=bit_error_ratio, **line.options(repeat))


def rs_code(line: CodedLine) -> Code:
    """Return the Reed-Solomon code of a line.

    Raises
    ------
    UserError
        The line has another code, or none.
    """
    if not isinstance(line.code, Code):
        raise UserError(f"{line.name} has no symbols to count; give a Reed-Solomon code: {', '.join(CODES)}")
    return line.code


@dataclass(frozen=True)
class Cells:
    """Codewords counted in each cell, and the wrong symbols at which each begins."""

    line: CodedLine
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Ascending; the first is 0. Too many wrong symbols are one more than the code corrects."""
    counts_uncorrectable: bool
    """Whether the last cell has the uncorrectable codewords; without it they were not counted."""

    @cached_property
    def codewords(self) -> int:
        """All codewords that were counted."""
        return int(self.counts.sum())

    @property
    def uncorrectable(self) -> int | None:
        """Uncorrectable codewords, where they were counted apart."""
        is_apart = self.counts_uncorrectable and self.starts[-1] == rs_code(self.line).corrects + 1
        return int(self.counts[-1]) if is_apart else None

    def shares(self, bit_error_ratio: float, repeat: float) -> FloatArray:
        """Return how likely a codeword that is counted is in each cell."""
        every = shares_of(self.line, bit_error_ratio, repeat)
        if not self.counts_uncorrectable:
            every = every[:-1]
        kept = np.add.reduceat(every, self.starts)
        shares: FloatArray = np.maximum(kept / kept.sum(), np.finfo(float).tiny)
        return shares

    def residuals(self, bit_error_ratio: float, repeat: float) -> FloatArray:
        """Return signed roots of each cell's share of the deviance, whose squares add up to it."""
        expected = self.codewords * self.shares(bit_error_ratio, repeat)
        more = expected - self.counts
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = more / self.counts
            # Near 1 the logarithm keeps its digits by log1p, and far below 1 without it.
            logarithm = np.where(ratio > -0.5, np.log1p(ratio), np.log(expected) - np.log(self.counts))
            parts = np.where(self.counts > 0, self.counts * (ratio - logarithm), expected)
        roots: FloatArray = np.sign(more) * np.sqrt(2 * np.maximum(parts, 0.0))
        return roots

    def deviance(self, bit_error_ratio: float, repeat: float) -> float:
        """Return twice the log likelihood that a model lacks."""
        return float((self.residuals(bit_error_ratio, repeat) ** 2).sum())


def cells_of(gauges: Gauges, line: CodedLine) -> Cells:
    """Return the cells of a histogram.

    Raises
    ------
    UserError
        The histogram is empty, has gaps, or is one of another code.

    Examples
    --------
    >>> from lossylink.scenario.coded_line import read_coded_line
    >>> kr4 = read_coded_line("rs528", rate_bps=25e9)
    >>> bins = tuple(Bin(at, at, 10 - at) for at in range(8))
    >>> cells_of(Gauges(source="CSV", histogram=bins, uncorrectable=0), kr4).uncorrectable
    0
    """
    corrects = rs_code(line).corrects
    bins = sorted(gauges.histogram)
    if not bins:
        raise UserError(f"{gauges.source} has no histogram of wrong symbols a codeword; see --fec-histogram")
    _check_spans(bins)
    if refusal := next(_of_another_code(bins, line), None):
        raise UserError(refusal)
    inside = [one for one in bins if one.low <= corrects + 1]
    has_rest = inside[-1].high > corrects
    counts, starts = [one.codewords for one in inside], [one.low for one in inside]
    if not has_rest and gauges.uncorrectable is not None:
        counts, starts, has_rest = [*counts, gauges.uncorrectable], [*starts, corrects + 1], True
    if not sum(counts):
        raise UserError("every bin of the histogram is 0; count for longer, on a line that is up")
    return Cells(line, np.array(counts, dtype=np.int64), np.array(starts), has_rest)


def _check_spans(bins: list[Bin]) -> None:
    """Refuse a histogram that leaves out bins: a bin that is not there is not known to be 0."""
    if bins[0].low != 0:
        raise UserError(
            f"the histogram begins at {bins[0].label}; its bin 0, the codewords without an error, is missing"
        )
    for before, after in pairwise(bins):
        if after.low != before.high + 1:
            raise UserError(f"{after.label} follows {before.label}; write the bins between them, 0 if empty")


def _of_another_code(bins: list[Bin], line: CodedLine) -> Iterator[str]:
    corrects, name = rs_code(line).corrects, line.name
    others = [other for other, code in CODES.items() if code.corrects != corrects]
    hint = f"give the line's code by --code, such as {others[0]}"
    for one in bins:
        if one.codewords and one.low > corrects + 1:
            yield (
                f"{one.label} holds {one.codewords:,} codewords, and {name} corrects {corrects} symbols: "
                f"a histogram of another code; {hint}"
            )
    if bins[-1].high < corrects:
        yield (
            f"the histogram ends at {bins[-1].label}, and {name} corrects {corrects} symbols: a histogram of "
            f"another code; {hint}, or write the empty bins as 0"
        )
