"""What sums of a line's counters tell without a histogram: a bit error ratio, and which codewords failed.

Sums do not tell bursts. Corrected bits over all bits are the bit error ratio itself. The share of codewords
with an error, or the number of wrong symbols, gives it for independent errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import optimize, special

from lossylink.errors import UserError
from lossylink.measuring.line.cells import rs_code
from lossylink.measuring.line.gauges import Gauges
from lossylink.measuring.ratios import share_of
from lossylink.scenario.coded_line import CodedLine
from lossylink.statistics.estimates import Estimate, poisson_interval
from lossylink.theory.phy.codes import Code

_BITS_OF_BYTE: Final = 8


@dataclass(frozen=True)
class Totals:
    """What sums of counters tell of a line."""

    codewords: int
    """Codewords in the time that was counted."""
    bit_error_ratio: Estimate | None
    """Wrong bits over all before the code; nothing where no counter tells them."""
    told_by: str
    """What the bit error ratio was taken from, in words."""
    failed: Estimate | None
    """Uncorrectable codewords over all; without one the upper end is one-sided."""


#: Gauges tell their time to a tenth of a minute.
_TOLD_WITHIN = 0.1


def codewords_in(code: Code, *, seconds: float, rate_bps: float) -> int:
    """Return how many codewords a line sends in a time.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> f"{codewords_in(CODES['rs544'], seconds=120, rate_bps=100e9):,}"
    '2,343,750,000'
    """
    return round(seconds * rate_bps / (_BITS_OF_BYTE * float(code.message_bytes)))


def totals_of(gauges: Gauges, line: CodedLine, *, seconds: float | None, rate_bps: float) -> Totals:
    """Return what the sums of counters tell.

    Parameters
    ----------
    seconds
        Time over which was counted; the tool's own when not given.

    Raises
    ------
    UserError
        Nothing says over how much time, or how many bits, was counted.
    """
    code = rs_code(line)
    codewords = _codewords(gauges, code, _time_of(gauges, seconds), rate_bps)
    ratio, told_by = _bit_error_ratio(gauges, code, codewords)
    return Totals(codewords, ratio, told_by, _share(gauges.uncorrectable, codewords))


def ratio_that_fails(code: Code, codeword_error_ratio: float) -> float:
    """Return the bit error ratio of independent errors at which that share of codewords fails.

    Examples
    --------
    >>> from lossylink.theory.phy import CODES
    >>> f"{ratio_that_fails(CODES['rs544'], 2.7926e-8):.4g}"
    '0.0005'
    """

    def lacking(logarithm: float) -> float:
        return float(special.bdtrc(code.corrects, code.symbols, np.exp(logarithm))) - codeword_error_ratio

    wrong = np.exp(optimize.brentq(lacking, *_LOGARITHMS, xtol=1e-12))
    return _bits_of(float(wrong), code.symbol_bits)


#: Logarithms of shares of wrong symbols between which a code fails: never, and always.
_LOGARITHMS: Final = (-46.0, -1e-3)


def _bits_of(share: float, bits: int) -> float:
    """Return the bit error ratio of independent errors at which that share of so many bits together errs."""
    return float(-np.expm1(np.log1p(-share) / bits))


def _time_of(gauges: Gauges, seconds: float | None) -> float | None:
    """Return the time of the counters, which the gauges tell or the user says."""
    told = gauges.seconds
    if told is None or seconds is None:
        return seconds if told is None else told
    if abs(told - seconds) > _TOLD_WITHIN * told:
        raise UserError(
            f"{gauges.source} tells {told:g} s, and --seconds says {seconds:g}; leave --seconds out"
        )
    return seconds


def _codewords(gauges: Gauges, code: Code, seconds: float | None, rate_bps: float) -> int:
    if gauges.histogram and gauges.histogram[0].low == 0:
        return sum(one.codewords for one in gauges.histogram)
    if gauges.codewords:
        return gauges.codewords
    if gauges.bits:
        return gauges.bits // code.bits
    if seconds is None:
        raise UserError(
            f"{gauges.source} tells no time: add --seconds, for how long the counters counted, or --before "
            "with an earlier reading and --seconds between the two"
        )
    codewords = codewords_in(code, seconds=seconds, rate_bps=rate_bps)
    if codewords < 1:
        raise UserError(f"{seconds:g} s are too short for a codeword; give the time of the counters")
    return codewords


def _bit_error_ratio(gauges: Gauges, code: Code, codewords: int) -> tuple[Estimate | None, str]:
    if gauges.wrong_bits is not None:
        return poisson_interval(gauges.wrong_bits, codewords * code.bits), "the corrected bits"
    share = _share(gauges.corrected, codewords)
    if share is not None:
        return _of_share(share, code.bits), "the corrected codewords, for independent errors"
    share = _share(gauges.symbol_errors, codewords * code.symbols)
    if share is not None:
        return _of_share(share, code.symbol_bits), "the wrong symbols, for independent errors"
    if gauges.pre_fec_ber is not None:
        return Estimate.exact(gauges.pre_fec_ber), "the tool's own gauge, without an interval"
    return None, "nothing"


def _of_share(share: Estimate, bits: int) -> Estimate:
    return Estimate(*(_bits_of(min(one, _MOST_SHARE), bits) for one in (share.value, share.low, share.high)))


#: A share of 1 tells no bit error ratio; this one stands for it.
_MOST_SHARE: Final = 1 - 1e-16


def _share(count: int | None, codewords: int) -> Estimate | None:
    if count is None:
        return None
    if count > codewords:
        raise UserError(
            f"{count:,} are counted of {codewords:,} that the line sent in the time; correct --seconds or "
            "--rate-of-link"
        )
    return share_of(count, codewords)
