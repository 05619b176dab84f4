"""Whether the lengths of runs of losses, and of the gaps between them, are those of a chain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import stats

from lossylink.measuring.likelihood import Floats, gap_survival, run_survival
from lossylink.measuring.record import Counts, Record
from lossylink.theory.bursts import Chain

LEAST_EXPECTED: Final = 5.0
"""Runs or gaps that a cell of the chi-square test has to expect (Cochran's rule); smaller ones are merged."""

MOST_CELLS: Final = 20
"""Cells for the lengths of runs, and as many for those of gaps."""


@dataclass(frozen=True)
class Goodness:
    """A chi-square test of the lengths of runs and gaps against a model."""

    chi_square: float
    degrees: int
    p_value: float

    @classmethod
    def of(cls, seen: Floats, expected: Floats, *, free: int) -> Goodness | None:
        """Compare counts with what is expected; nothing when too few are left beside the free parameters."""
        degrees = seen.size - free
        if degrees < 1:
            return None
        chi_square = float(((seen - expected) ** 2 / expected).sum())
        return cls(chi_square, degrees, float(stats.chi2.sf(chi_square, degrees)))


def goodness_of(chain: Chain, record: Record, *, free: int) -> Goodness | None:
    """Compare the lengths of runs and gaps with what the chain expects; nothing when there are too few."""
    parts = [_cells(record.runs, chain, run_survival), _cells(record.inner_gaps, chain, gap_survival)]
    seen, expected = (np.concatenate(one) for one in zip(*parts, strict=True))
    return Goodness.of(seen, expected, free=2 + free)


def _cells(
    lengths: Counts, chain: Chain, survival: Callable[[Chain, Counts], Floats]
) -> tuple[Floats, Floats]:
    """Return how many lengths fall in each cell, and how many should; cells expect about the same."""
    total = lengths.size
    edges = np.unique(np.geomspace(1, 2 * int(lengths.max()) + 10, 2000).astype(np.int64))
    beyond = survival(chain, edges) * total
    wanted = max(LEAST_EXPECTED, total / MOST_CELLS)
    cuts = [0]
    for at in range(1, edges.size):
        if beyond[cuts[-1]] - beyond[at] >= wanted and beyond[at] >= LEAST_EXPECTED:
            cuts.append(at)
    begins, reach = edges[cuts], beyond[cuts]
    seen = np.bincount(np.searchsorted(begins, lengths, side="right") - 1, minlength=len(cuts))
    return seen.astype(np.float64), reach - np.append(reach[1:], 0.0)
