"""Wrong symbols of one codeword: their exact distribution, by powers of a matrix without a negative term.

A state is the number of wrong symbols so far, up to one that is too many, and the state of the line's chain.
All terms are positive: a ratio of 1e-30 has as many right digits as one of 0.1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Unpack

import numpy as np
from scipy import special

from lossylink.statistics.arguments import FloatArray
from lossylink.theory.codewords import any_of
from lossylink.theory.phy.codes import Counted
from lossylink.theory.phy.line import Line, LineOptions, block

_REMEMBERED: Final = 64
"""Lines whose matrices are kept: a search asks again for few."""
_MOST_CORRECTED: Final = 512
"""Of symbols of ten bits no code corrects more; a matrix of four times as many rows takes minutes."""


def symbol_error_distribution(
    code: Counted, *, bit_error_ratio: float, **options: Unpack[LineOptions]
) -> FloatArray:
    """Return how likely a codeword has 0, 1, ... wrong symbols, and more than the code corrects.

    Parameters
    ----------
    bit_error_ratio, **options
        Errors and order of the line, as of `Line`.

    Returns
    -------
    FloatArray
        One entry a number of wrong symbols from 0 to ``code.corrects``, and a last one for more.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> alone = symbol_error_distribution(CODES["rs544"], bit_error_ratio=2.4e-4)
    >>> alone.size, f"{alone[0]:.4f} {alone[-1]:.4e}"
    (17, '0.2710 8.1516e-13')
    """
    line = Line(bit_error_ratio, **options)
    line.check(code)
    if line.independent:
        return _binomial(code, bit_error_ratio)
    shares = line.start @ counted(code, line)
    return np.asarray(shares.sum(axis=1), dtype=np.float64)


@lru_cache(maxsize=_REMEMBERED)
def counted(code: Counted, line: Line) -> FloatArray:
    """Return from state to state of the chain over a group, by the wrong symbols of its first codeword.

    The axes are wrong symbols (``code.corrects`` + 2), state before and state behind.
    """
    if code.corrects > _MOST_CORRECTED:
        raise ValueError(
            f"bursts are computed for codes that correct at most {_MOST_CORRECTED} symbols, not "
            f"{code.corrects}: give a shorter code, or repeat=0 without a precoder"
        )
    shares = block(line, code.symbol_bits)
    period = np.eye(2 * (code.corrects + 2))
    blocks = max(1, line.interleaved // line.lanes)
    for index in range(blocks):
        symbols = range(index * line.lanes, (index + 1) * line.lanes)
        watched = sum(1 << place for place, symbol in enumerate(symbols) if symbol % line.interleaved == 0)
        period = period @ _counting(code.corrects, shares, watched)
    whole = np.linalg.matrix_power(period, code.symbols * line.interleaved // (line.lanes * blocks))
    return whole[:2].reshape(2, -1, 2).transpose(1, 0, 2)


def _counting(corrects: int, shares: FloatArray, watched: int) -> FloatArray:
    """Return from count and state to count and state over a block, counting the watched symbols."""
    counts = np.arange(corrects + 2)
    step = np.zeros((counts.size, 2, counts.size, 2))
    for struck, moved in enumerate(shares):
        more = np.minimum(counts + (struck & watched).bit_count(), corrects + 1)
        step[counts, :, more] += moved
    return step.reshape(2 * counts.size, -1)


def _binomial(code: Counted, bit_error_ratio: float) -> FloatArray:
    """Return the distribution where symbols are wrong independently."""
    wrong, counts = any_of(bit_error_ratio, code.symbol_bits), np.arange(code.corrects + 1)
    ways = special.gammaln(code.symbols + 1) - special.gammaln(counts + 1)
    logarithms = ways - special.gammaln(code.symbols - counts + 1) + special.xlogy(counts, wrong)
    logarithms += special.xlog1py(code.symbols - counts, -wrong)
    return np.append(np.exp(logarithms), special.bdtrc(code.corrects, code.symbols, wrong))
