"""Codes of full size against lines drawn bit by bit: shares of wrong bits, of counts, of failed groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lossylink.statistics import intervals
from lossylink.theory.phy import (
    Code,
    Firecode,
    Line,
    code_named,
    group_error_ratio,
    symbol_error_distribution,
)

GROUPS = 1000
#: So that no interval among the few hundred here misses by chance.
CONFIDENCE = 0.999999


def drawn(line: Line, symbols: int, seed: np.random.Generator) -> NDArray[np.bool_]:
    """Return wrong bits by group and place on the line, line symbol by line symbol."""
    wrong = np.zeros((symbols, GROUPS, line.line_bits), dtype=bool)
    risks = np.array([line.behind_right, line.behind_wrong])
    state = (seed.random(GROUPS) < line.start[1]).astype(int)
    for bits in wrong:
        before, state = state, (seed.random(GROUPS) < risks[state]).astype(int)
        hit = np.flatnonzero(state ^ before if line.precoded else state)
        bits[hit] = wrong_bits(line, hit.size, seed)
    return wrong.transpose(1, 0, 2).reshape(GROUPS, -1)


def wrong_bits(line: Line, symbols: int, seed: np.random.Generator) -> NDArray[np.bool_]:
    """Draw bits one by one, each wrong by the bit error ratio, where at least one of a symbol is."""
    ratio = line.bit_error_ratio
    if line.line_bits == 1:
        return np.ones((symbols, 1), dtype=bool)
    first = seed.random(symbols) < ratio / (1 - (1 - ratio) ** 2)
    return np.stack([first, ~first | (seed.random(symbols) < ratio)], axis=1)


def is_no_burst(wrong: NDArray[np.bool_], burst_bits: int) -> NDArray[np.bool_]:
    first, last = wrong.argmax(axis=1), wrong.shape[1] - 1 - wrong[:, ::-1].argmax(axis=1)
    return np.asarray(wrong.any(axis=1) & (last - first >= burst_bits))


@pytest.mark.parametrize(
    ("name", "ratio", "options"),
    [
        ("firecode", 3e-4, {"line_bits": 1}),
        ("firecode", 3e-4, {"line_bits": 1, "repeat": 0.5}),
        ("firecode", 1e-3, {"repeat": 0.75, "precoded": True}),
        ("rs528", 9e-4, {}),
        ("rs528", 1.2e-3, {"repeat": 0.5, "line_bits": 1}),
        ("rs544", 2e-3, {}),
        ("rs544", 4e-3, {"repeat": 0.5}),
        ("rs544", 6e-3, {"repeat": 0.75, "interleaved": 2}),
        ("rs544", 2e-3, {"repeat": 0.75, "interleaved": 2, "lanes": 4}),
        ("rs544", 2e-3, {"repeat": 0.5, "interleaved": 2, "lanes": 4, "precoded": True}),
        ("rs272", 2e-3, {"repeat": 0.75, "precoded": True}),
        ("rs272", 4e-3, {"repeat": 0.75, "interleaved": 4}),
        ("rs272", 1.4e-3, {"repeat": 0.5, "interleaved": 4, "lanes": 4, "precoded": True}),
        ("rs272", 1.4e-3, {"repeat": 0.0, "interleaved": 4, "lanes": 2}),
        ("rs60/50/8", 5e-3, {"repeat": 0.75, "lanes": 2}),
    ],
)
def test_groups_fail_as_lines_drawn_bit_by_bit(name: str, ratio: float, options: dict[str, Any]) -> None:
    code, line = code_named(name), Line(ratio, **options)
    assert isinstance(code, Code | Firecode)
    seed = np.random.default_rng(74)
    wrong = drawn(line, code.bits * line.interleaved // line.line_bits, seed)
    each = wrong.mean(axis=1)
    assert abs(each.mean() - ratio) < 5 * each.std() / GROUPS**0.5
    if isinstance(code, Firecode):
        failed = is_no_burst(wrong, code.burst_bits)
    else:
        symbols = wrong.reshape(GROUPS, -1, code.symbol_bits, line.lanes).any(axis=2)
        counts = symbols.reshape(GROUPS, -1, line.interleaved).sum(axis=1)
        failed = (counts > code.corrects).any(axis=1)
        shares = symbol_error_distribution(code, bit_error_ratio=ratio, **options)
        for codeword in counts.T:
            seen = np.bincount(np.minimum(codeword, code.corrects + 1), minlength=shares.size)
            low, high = intervals.clopper_pearson(events=seen, trials=GROUPS, confidence=CONFIDENCE)
            assert ((low <= shares) & (shares <= high)).all()
    found = group_error_ratio(code, bit_error_ratio=ratio, **options)
    low, high = intervals.clopper_pearson(events=failed.sum(), trials=GROUPS, confidence=CONFIDENCE)
    assert low <= found <= high
    assert 20 < failed.sum() < GROUPS - 20, "enough of both to tell"
