"""Groups of interleaved codewords: how many cannot be corrected, and how the line's chain goes through one.

A run of errors hits codewords that share it, so the codewords of a group do not fail independently, and
neither do groups that follow each other. All of a group is marked when one of its codewords fails.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from functools import lru_cache
from typing import Final, Unpack

import numpy as np

from lossylink.statistics.arguments import FloatArray
from lossylink.theory.codewords import any_of
from lossylink.theory.phy.codes import Counted, Firecode, LineCode
from lossylink.theory.phy.firecode import over_burst_code
from lossylink.theory.phy.line import Line, LineOptions, block
from lossylink.theory.phy.words import counted, symbol_error_distribution

_REMEMBERED: Final = 64
_LEAST_SHARE: Final = np.finfo(float).tiny
"""Doubles below it are slow, and lose digits: they count for nothing."""
_MOST_CASES: Final = 200_000
"""Of counts of all codewords of a group: a second or two. KP4 with four codewords in turn has 83,521."""


def codeword_error_ratio(code: LineCode, *, bit_error_ratio: float, **options: Unpack[LineOptions]) -> float:
    """Return the share of codewords with more wrong symbols than the code corrects.

    Parameters
    ----------
    bit_error_ratio, **options
        Errors and order of the line, as of `Line`.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> f"{codeword_error_ratio(CODES['rs544'], bit_error_ratio=2.4e-4):.4e}"
    '8.1516e-13'
    >>> f"{codeword_error_ratio(CODES['rs544'], bit_error_ratio=1e-4, repeat=0.5):.2e}"
    '5.63e-14'
    """
    if isinstance(code, Firecode):
        return _failing(code, Line(bit_error_ratio, **options))
    return float(symbol_error_distribution(code, bit_error_ratio=bit_error_ratio, **options)[-1])


def group_error_ratio(code: LineCode, *, bit_error_ratio: float, **options: Unpack[LineOptions]) -> float:
    """Return the share of groups of interleaved codewords of which at least one cannot be corrected.

    Parameters
    ----------
    bit_error_ratio, **options
        Errors and order of the line, as of `Line`.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> [f"{group_error_ratio(CODES['rs544'], bit_error_ratio=5e-4, interleaved=x):.3e}" for x in (1, 2)]
    ['2.793e-08', '5.585e-08']
    """
    line = Line(bit_error_ratio, **options)
    if line.interleaved > 1 and not line.independent:
        return _failing(code, line)
    single = codeword_error_ratio(code, bit_error_ratio=bit_error_ratio, **options)
    return any_of(single, line.interleaved)


def group_transitions(
    code: LineCode, *, bit_error_ratio: float, **options: Unpack[LineOptions]
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
    >>> from lossylink.theory.phy import CODES
    >>> ok, failed = group_transitions(CODES["rs528"], bit_error_ratio=5e-4, repeat=0.5)
    >>> bool(abs((ok + failed).sum(axis=1) - 1).max() < 1e-11)
    True
    """
    return transitions(code, Line(bit_error_ratio, **options))


def _failing(code: LineCode, line: Line) -> float:
    _, failed = transitions(code, line)
    return float((line.start @ failed).sum())


@lru_cache(maxsize=_REMEMBERED)
def transitions(code: LineCode, line: Line) -> tuple[FloatArray, FloatArray]:
    """Return the matrices of `group_transitions`, which nobody may write into."""
    line.check(code)
    if isinstance(code, Firecode):
        found = over_burst_code(code, line)
    elif line.interleaved == 1:
        by_count = counted(code, line)
        found = by_count[:-1].sum(axis=0), by_count[-1]
    else:
        found = _over_group(code, line)
    for matrix in found:
        matrix.setflags(write=False)
    return found


def _over_group(code: Counted, line: Line) -> tuple[FloatArray, FloatArray]:
    """Return the matrices of a group, from how many wrong symbols all its codewords have so far.

    Once a codeword has too many, only the chain's state is kept.
    """
    counts = (code.corrects + 1 + max(1, line.lanes // line.interleaved),) * line.interleaved
    if counts[0] ** line.interleaved > _MOST_CASES:
        raise ValueError(
            f"bursts over {line.interleaved} codewords that correct {code.corrects} symbols each take too "
            "long to compute: give fewer codewords, or repeat=0 without a precoder"
        )
    shares, failed = np.zeros((2, 2, *counts)), np.zeros((2, 2))
    shares[(slice(None), slice(None)) + (0,) * line.interleaved] = np.eye(2)
    blocks = _blocks(line, code.symbol_bits, counts)
    for _ in range(code.symbols * line.interleaved // (line.lanes * len(blocks))):
        for moves in blocks:
            shares = _moved(shares, moves)
            failed = failed @ sum(moves.values()) + _taken_out(shares, code.corrects)
        shares[shares < _LEAST_SHARE] = 0.0
    return shares.reshape(2, 2, -1).sum(axis=2), failed


_Moves = dict[int, FloatArray]
"""By how far counts move in a flat array: from the chain's state to its state."""


def _blocks(line: Line, symbol_bits: int, counts: tuple[int, ...]) -> list[_Moves]:
    """Return the moves over each block until the blocks begin with the first codeword again."""
    shares = block(line, symbol_bits)
    apart = [int(np.prod(counts[codeword + 1 :])) for codeword in range(line.interleaved)]
    found = []
    for first in range(0, line.interleaved, line.lanes):
        moves: _Moves = defaultdict(lambda: np.zeros((2, 2)))
        for struck, chance in enumerate(shares):
            places = [place for place in range(line.lanes) if struck >> place & 1]
            moves[sum(apart[(first + place) % line.interleaved] for place in places)] += chance
        found.append(dict(moves))
    return found


def _moved(shares: FloatArray, moves: _Moves) -> FloatArray:
    """Take a block into account: shares by first state, state and counts, with room for counts that grow."""
    after = np.zeros(shares.shape)
    rows, grown = (array.reshape(2, 2, -1) for array in (shares, after))
    part = np.empty(rows.shape[2])
    for far, chance in moves.items():
        rest = part[: part.size - far]
        for first, before, behind in itertools.product(range(2), repeat=3):
            if chance[before, behind]:
                np.multiply(rows[first, before, : rest.size], chance[before, behind], out=rest)
                grown[first, behind, far:] += rest
    return after


def _taken_out(shares: FloatArray, corrects: int) -> FloatArray:
    """Take out shares with a count beyond what the code corrects, and return the sum of them."""
    total = np.zeros((2, 2))
    for axis in range(2, shares.ndim):
        beyond = shares[(slice(None),) * axis + (slice(corrects + 1, None),)]
        total += beyond.reshape(2, 2, -1).sum(axis=2)
        beyond[...] = 0.0
    return total
