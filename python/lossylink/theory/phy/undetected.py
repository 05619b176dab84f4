"""Codewords that come out wrong and unmarked: an upper bound of their share."""

from __future__ import annotations

import numpy as np
from scipy import special

from lossylink.statistics import arguments
from lossylink.theory.phy.codes import Code, LineCode


def undetected_codeword_ratio(code: LineCode, *, codeword_error_ratio: float) -> float:
    """Return an upper bound of the share of codewords that come out wrong and unmarked.

    A word with more wrong symbols than the code corrects is taken for another codeword only if it lies within
    reach of one. Of all words a share does that is at most 1 over the factorial of the symbols that the code
    corrects, and less where the code is shortened (McEliece and Swanson, "On the decoder error probability
    for Reed-Solomon codes", IEEE Transactions on Information Theory 32, 1986).

    Raises
    ------
    ValueError
        The code is no Reed-Solomon code: the bound does not hold for others.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> f"{undetected_codeword_ratio(CODES['rs544'], codeword_error_ratio=1e-8):.1e}"
    '4.7e-25'
    """
    if not isinstance(code, Code):
        raise ValueError("the bound holds for Reed-Solomon codes: give one, as rs544")
    ratio = float(arguments.ratio("codeword_error_ratio", codeword_error_ratio))
    size = 2.0**code.symbol_bits
    terms = np.arange(code.corrects + 1)
    logarithms = (
        special.gammaln(code.symbols + 1)
        - special.gammaln(terms + 1)
        - special.gammaln(code.symbols - terms + 1)
        + terms * np.log(size - 1)
        - (code.symbols - code.message_symbols) * np.log(size)
    )
    return ratio * min(1.0, float(np.exp(special.logsumexp(logarithms))))
