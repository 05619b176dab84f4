"""Groups of interleaved codewords: how many cannot be corrected, and how the line's chain goes through one.

A run of errors hits codewords that share it, so the codewords of a group do not fail independently, and
neither do groups that follow each other. All of a group is marked when one of its codewords fails.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import Final, Unpack

import numpy as np

from lossylink.theory._validate import FloatArray
from lossylink.theory.codewords import any_of
from lossylink.theory.phy.codes import Code
from lossylink.theory.phy.line import Line, LineOptions, block
from lossylink.theory.phy.words import check, counted, symbol_error_distribution

_REMEMBERED: Final = 64
_NONE_LEFT: Final = 1e-290
"""Shares below it count for nothing: doubles so small are slow, and soon without digits."""


def codeword_error_ratio(code: Code, *, bit_error_ratio: float, **options: Unpack[LineOptions]) -> float:
    """Return the share of codewords with more wrong symbols than the code corrects.

    Parameters
    ----------
    bit_error_ratio, **options
        Errors and order of the line, as of `Line`.

    Examples
    --------
    >>> f"{codeword_error_ratio(Code(544, 514), bit_error_ratio=2.4e-4):.4e}"
    '8.1516e-13'
    >>> f"{codeword_error_ratio(Code(544, 514), bit_error_ratio=1e-4, repeat=0.5):.2e}"
    '5.63e-14'
    """
    return float(symbol_error_distribution(code, bit_error_ratio=bit_error_ratio, **options)[-1])


def group_error_ratio(code: Code, *, bit_error_ratio: float, **options: Unpack[LineOptions]) -> float:
    """Return the share of groups of interleaved codewords of which at least one cannot be corrected.

    Parameters
    ----------
    bit_error_ratio, **options
        Errors and order of the line, as of `Line`.

    Examples
    --------
    >>> [f"{group_error_ratio(Code(544, 514), bit_error_ratio=5e-4, interleaved=x):.3e}" for x in (1, 2)]
    ['2.793e-08', '5.585e-08']
    """
    line = Line(bit_error_ratio, **options)
    if line.independent or line.interleaved == 1:
        return any_of(
            codeword_error_ratio(code, bit_error_ratio=bit_error_ratio, **options), line.interleaved
        )
    _, failed = transitions(code, line)
    return float((line.start @ failed).sum())


def group_transitions(
    code: Code, *, bit_error_ratio: float, **options: Unpack[LineOptions]
) -> tuple[FloatArray, FloatArray]:
    """Return from state to state of the line's chain over a group: without a failure, and with one.

    Parameters
    ----------
    bit_error_ratio, **options
        Errors and order of the line, as of `Line`.

    Returns
    -------
    ok, failed
        Each of 2 by 2: from the chain's state in front of the group (right, wrong) to the state at its end.

    Examples
    --------
    >>> ok, failed = group_transitions(Code(528, 514), bit_error_ratio=5e-4, repeat=0.5)
    >>> bool(abs((ok + failed).sum(axis=1) - 1).max() < 1e-11)
    True
    """
    return transitions(code, Line(bit_error_ratio, **options))


@lru_cache(maxsize=_REMEMBERED)
def transitions(code: Code, line: Line) -> tuple[FloatArray, FloatArray]:
    """Return the matrices of `group_transitions`."""
    check(code, line)
    if line.interleaved == 1:
        by_count = counted(code, line)
        return by_count[:-1].sum(axis=0), by_count[-1]
    shares = np.zeros((2, 2) + (code.corrects + 1,) * line.interleaved)
    shares[(slice(None), slice(None)) + (0,) * line.interleaved] = np.eye(2)
    failed = np.zeros((2, 2))
    blocks = _blocks(line, code.symbol_bits)
    for index in range(code.symbols * line.interleaved // line.lanes):
        shares, failed = _over(blocks[index % len(blocks)], shares, failed)
        shares[shares < _NONE_LEFT] = 0.0
    return shares.reshape(2, 2, -1).sum(axis=2).T, failed.T


_Moves = dict[tuple[int, ...], FloatArray]
"""By how many wrong symbols each codeword gets: from the chain's state to its state, transposed."""


def _blocks(line: Line, symbol_bits: int) -> list[_Moves]:
    """Return the moves over each block until the blocks begin with the first codeword again."""
    shares = block(line, symbol_bits)
    found = []
    for first in range(0, line.interleaved, line.lanes):
        moves: _Moves = defaultdict(lambda: np.zeros((2, 2)))
        for struck, moved in enumerate(shares):
            wrong = [0] * line.interleaved
            for place in range(line.lanes):
                wrong[(first + place) % line.interleaved] += struck >> place & 1
            moves[tuple(wrong)] += moved.T
        found.append(dict(moves))
    return found


def _over(moves: _Moves, shares: FloatArray, failed: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Take a block into account: shares by state, first state and counts, and those that failed."""
    shape = shares.shape
    after = np.zeros(shape)
    failed = sum(moves.values()) @ failed
    for wrong, moved in moves.items():
        kept = tuple(slice(0, size - more) for size, more in zip(shape[2:], wrong, strict=True))
        grown = tuple(slice(more, None) for more in wrong)
        inside = shares[(slice(None), slice(None), *kept)]
        after[(slice(None), slice(None), *grown)] += np.tensordot(moved, inside, 1)
        failed = failed + moved @ _beyond(shares, wrong)
    return after, failed


def _beyond(shares: FloatArray, wrong: tuple[int, ...]) -> FloatArray:
    """Sum the shares of which some count grows beyond what the code corrects, each share once."""
    total = np.zeros((2, 2))
    rest = shares
    for axis, more in enumerate(wrong, start=2):
        edge = rest.shape[axis] - more
        before = (slice(None),) * axis
        total += rest[(*before, slice(edge, None))].reshape(2, 2, -1).sum(axis=2)
        rest = rest[(*before, slice(0, edge))]
    return total
