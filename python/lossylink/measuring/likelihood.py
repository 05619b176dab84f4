"""How likely a record of losses is along a Gilbert-Elliott chain, exactly, in time that grows with its runs.

A delivered frame multiplies the row of the two states by A = diag(1 - loss) T, a lost one by
B = diag(loss) T, where T steps the chain. A gap of g frames is the power A^g, in closed form by the
eigenvalues of A, so that a million frames between two losses cost as much as one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lossylink.measuring.record import Counts, Record
from lossylink.theory.bursts import Chain

Floats = NDArray[np.float64]

#: Eigenvalues that are closer than this, relative to the larger, count as one.
_SAME = 1e-13
#: Stands for the logarithm of nothing: worse than any real likelihood, and finite for the search.
_IMPOSSIBLE = -1e18


def steps(chain: Chain) -> tuple[Floats, Floats]:
    """Return the matrices of a delivered and of a lost frame."""
    return (1 - chain.loss)[:, None] * chain.step, chain.loss[:, None] * chain.step


def powers(matrix: Floats, exponents: Counts) -> tuple[Floats, Floats]:
    """Return powers of a 2 x 2 matrix of chances, of shape (n, 2, 2), and the logarithms of their scales."""
    exponent = exponents.astype(np.float64)
    half_trace = (matrix[0, 0] + matrix[1, 1]) / 2
    # Of chances, so the product off the diagonal is not negative and both eigenvalues are real.
    root = np.sqrt(((matrix[0, 0] - matrix[1, 1]) / 2) ** 2 + matrix[0, 1] * matrix[1, 0])
    large, small = half_trace + root, half_trace - root
    identity = np.eye(2)
    if large <= 0:  # its square is nothing
        first = (exponent == 0)[:, None, None] * identity + (exponent == 1)[:, None, None] * matrix
        return first, np.zeros(exponent.size)
    if large - small <= _SAME * large:
        first = identity + exponent[:, None, None] * (matrix / large - identity)
    else:
        fading = np.power(small / large, exponent)[:, None, None]
        first = ((matrix - small * identity) - fading * (matrix - large * identity)) / (large - small)
    return np.maximum(first, 0.0), exponent * np.log(large)


def log_likelihood(chain: Chain, record: Record) -> float:
    """Return the natural logarithm of the chance of a record, begun anywhere in a long run of the chain."""
    clear, lost = steps(chain)
    gaps, gap_scales = powers(clear, np.append(record.gaps, record.tail))
    runs, run_scales = powers(lost, record.runs)
    product, scale = _product(_pairwise(gaps[:-1], runs))
    chance = float((chain.stationary @ product @ gaps[-1]).sum())
    if chance <= 0 or not np.isfinite(scale):
        return _IMPOSSIBLE
    return float(np.log(chance) + scale + gap_scales.sum() + run_scales.sum())


def _product(matrices: Floats) -> tuple[Floats, float]:
    """Multiply matrices in their order, in pairs; returns the product and the logarithm of its scale."""
    scale = 0.0
    while len(matrices) > 1:
        is_odd = len(matrices) % 2
        paired = _pairwise(matrices[: len(matrices) - is_odd : 2], matrices[1::2])
        matrices = np.concatenate((paired, matrices[-1:])) if is_odd else paired
        largest = np.maximum.reduce(matrices.reshape(-1, 4), axis=1)
        if not largest.all():
            return np.zeros((2, 2)), -np.inf
        matrices = matrices / largest[:, None, None]
        scale += float(np.log(largest).sum())
    return (matrices[0] if len(matrices) else np.eye(2)), scale


def _pairwise(left: Floats, right: Floats) -> Floats:
    """Multiply 2 x 2 matrices one by one, several times as fast as ``left @ right``."""
    product = np.empty_like(left)
    for row in (0, 1):
        for column in (0, 1):
            product[:, row, column] = left[:, row, 0] * right[:, 0, column]
            product[:, row, column] += left[:, row, 1] * right[:, 1, column]
    return product


def run_survival(chain: Chain, lengths: Counts) -> Floats:
    """Return the chance that a run of losses has at least so many frames, for lengths from 1 on."""
    clear, lost = steps(chain)
    return _survival(chain.stationary @ clear, lost, lengths)


def gap_survival(chain: Chain, lengths: Counts) -> Floats:
    """Return the chance that a gap between two runs has at least so many frames, for lengths from 1 on."""
    clear, lost = steps(chain)
    return _survival(chain.stationary @ lost, clear, lengths)


def _survival(start: Floats, step: Floats, lengths: Counts) -> Floats:
    matrices, scales = powers(step, np.append(lengths, 1))
    chances = (start @ matrices).sum(axis=1) * np.exp(scales)
    return np.asarray(chances[:-1] / chances[-1])
