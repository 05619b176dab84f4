"""The Firecode of a line: how likely the wrong bits of a codeword are no single burst.

A codeword comes right where all its wrong bits lie within the length of a burst that the code corrects. Four
cases of the bits so far are told apart: no bit was wrong; the first wrong one came 1, 2, ... bits ago; that
bit came longer ago than a burst lasts; a wrong bit came behind the burst.
"""

from __future__ import annotations

import numpy as np

from lossylink.statistics.arguments import FloatArray
from lossylink.theory.phy.codes import Firecode
from lossylink.theory.phy.line import Line


def over_burst_code(code: Firecode, line: Line) -> tuple[FloatArray, FloatArray]:
    """Return from state to state of the line's chain over a codeword that comes right, and that fails."""
    bit = _bit_cases(code.burst_bits)
    right, wrong = line.steps()
    step = np.kron(np.linalg.matrix_power(bit[0], line.line_bits), right)
    for chance, struck in line.patterns():
        cases = np.linalg.multi_dot(
            [np.eye(len(bit[0])), *(bit[at in struck] for at in range(line.line_bits))]
        )
        step += chance * np.kron(cases, wrong)
    whole = np.linalg.matrix_power(step, code.bits // line.line_bits)
    ends = whole[:2].reshape(2, -1, 2)
    return ends[:, :-1].sum(axis=1), ends[:, -1]


def _bit_cases(burst_bits: int) -> tuple[FloatArray, FloatArray]:
    """Return from case to case over a right bit and over a wrong one."""
    over, failed = burst_bits, burst_bits + 1
    right, wrong = np.zeros((2, failed + 1, failed + 1))
    right[0, 0] = right[failed, failed] = wrong[failed, failed] = wrong[0, 1] = wrong[over, failed] = 1
    for since in range(1, over + 1):
        right[since, min(since + 1, over)] = 1
    for since in range(1, over):
        wrong[since, since + 1] = 1
    return right, wrong
