"""From the bit errors of an Ethernet line, through the code of the line itself, to lost frames.

The line carries codewords of n symbols with m bits each, of which k symbols are the stream of frames: 257
bits of it carry 32 octets (256b/257b, IEEE 802.3 clauses 91 and 119). A Reed-Solomon code corrects half as
many symbols as it adds. A codeword with more wrong symbols is marked, and every frame with an octet in it is
lost.

Bit errors are independent, or come in runs. An equaliser with decision feedback takes a wrong line symbol
into the next one: after an error the next line symbol is wrong with probability a, besides errors of its own.
Line symbols then form a chain of two states. The number of wrong code symbols follows exactly, by a recursion
whose terms are all positive: a ratio of 1e-30 has as many right digits as one of 0.1.

Bit errors are counted before the code ("pre-FEC").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from scipy import optimize, special

from lossylink.theory import _validate
from lossylink.theory._validate import FloatArray
from lossylink.theory.codewords import PREAMBLE_BYTES, any_of

PAM4_BITS: Final = 2
"""Bits of a line symbol on all lanes from 50 Gb/s on; NRZ lanes have 1."""
LEAST_BIT_ERROR_RATIO: Final = 1e-20
"""No line is told from a perfect one below it: 1.6 Tb/s are one wrong bit in two years."""
_STREAM_BITS, _STREAM_BYTES = 257, 32


@dataclass(frozen=True)
class Code:
    """A Reed-Solomon code of a line.

    Examples
    --------
    >>> kp4 = Code(symbols=544, message_symbols=514, symbol_bits=10)
    >>> kp4.corrects, kp4.message_bytes, f"{kp4.overhead:.4f}"
    (15, 640.0, '0.0584')
    """

    symbols: int
    message_symbols: int
    symbol_bits: int = 10

    def __post_init__(self) -> None:
        """Refuse what is no Reed-Solomon code."""
        if not (0 < self.message_symbols < self.symbols < 2**self.symbol_bits):
            raise ValueError(
                f"rs{self.symbols}/{self.message_symbols}/{self.symbol_bits} is no code: give fewer message "
                f"symbols than symbols, and fewer symbols than 2^{self.symbol_bits}"
            )

    @property
    def corrects(self) -> int:
        """Wrong symbols that a codeword may have."""
        return (self.symbols - self.message_symbols) // 2

    @property
    def message_bytes(self) -> float:
        """Octets of the stream of frames in a codeword."""
        return self.message_symbols * self.symbol_bits * _STREAM_BYTES / _STREAM_BITS

    @property
    def overhead(self) -> float:
        """Check symbols over message symbols: what the line is faster than without the code."""
        return self.symbols / self.message_symbols - 1


#: Codes by the name that the field uses: KR4, KP4, and the low-latency code of the consortia.
CODES: Final = {"rs528": Code(528, 514), "rs544": Code(544, 514), "rs272": Code(272, 257)}


def code_named(name: str) -> Code:
    """Return a code by its name, or by its numbers as ``rsN/K/m``.

    Raises
    ------
    ValueError
        One line that says what is wrong.

    Examples
    --------
    >>> code_named("rs544") == code_named("rs544/514/10")
    True
    """
    found = re.fullmatch(r"rs(\d+)/(\d+)/(\d+)", name)
    if found is not None:
        return Code(*(int(number) for number in found.groups()))
    if name not in CODES:
        raise ValueError(f"{name!r} is no code; valid: {', '.join(CODES)}, or rsN/K/m as rs544/514/10")
    return CODES[name]


def codeword_error_ratio(
    code: Code,
    *,
    bit_error_ratio: float,
    repeat: float = 0.0,
    line_bits: int = PAM4_BITS,
    interleaved: int = 1,
) -> float:
    """Return the share of codewords with more wrong symbols than the code corrects.

    Parameters
    ----------
    bit_error_ratio
        Wrong bits over all, before the code, from 0 to 0.5.
    repeat
        a, the probability with which an error makes the next line symbol wrong: 0 for independent errors, up
        to 0.5 with NRZ and 0.75 with PAM4.
    line_bits
        Bits of a line symbol: 2 for PAM4, 1 for NRZ. Of independent errors nothing depends on it.
    interleaved
        Codewords that take symbols of the line in turn.

    Examples
    --------
    >>> f"{codeword_error_ratio(CODES['rs544'], bit_error_ratio=2.4e-4):.4e}"
    '8.1516e-13'
    >>> f"{codeword_error_ratio(CODES['rs544'], bit_error_ratio=1e-4, repeat=0.5):.2e}"
    '5.63e-14'
    """
    _check(bit_error_ratio, repeat, line_bits, code)
    if repeat == 0.0:
        wrong = any_of(bit_error_ratio, code.symbol_bits)
        return float(special.bdtrc(code.corrects, code.symbols, wrong))
    return _failing(code, bit_error_ratio, repeat, line_bits, interleaved, watched=1)


def group_error_ratio(
    code: Code,
    *,
    bit_error_ratio: float,
    repeat: float = 0.0,
    line_bits: int = PAM4_BITS,
    interleaved: int = 1,
) -> float:
    """Return the share of groups of interleaved codewords of which at least one cannot be corrected.

    A run of errors hits codewords that share it, so they do not fail independently; parameters are those of
    `codeword_error_ratio`.

    Examples
    --------
    >>> [f"{group_error_ratio(CODES['rs544'], bit_error_ratio=5e-4, interleaved=x):.3e}" for x in (1, 2)]
    ['2.793e-08', '5.585e-08']
    """
    if repeat == 0.0 or interleaved == 1:
        single = codeword_error_ratio(
            code, bit_error_ratio=bit_error_ratio, repeat=repeat, line_bits=line_bits
        )
        return any_of(single, interleaved)
    _check(bit_error_ratio, repeat, line_bits, code)
    return _failing(code, bit_error_ratio, repeat, line_bits, interleaved, watched=interleaved)


def frame_loss_ratio(
    code: Code | None,
    *,
    bit_error_ratio: float,
    frame_bytes: int,
    repeat: float = 0.0,
    line_bits: int = PAM4_BITS,
    interleaved: int = 1,
) -> float:
    """Return the share of frames that the line loses.

    A frame of L octets with its preamble begins anywhere. So it touches 1 + (L + 7) / M groups of codewords
    on average, M being the octets of the stream in a group, and is lost with any of them.

    Parameters
    ----------
    code
        None for a line without a code: a frame is lost with any wrong bit in it.
    frame_bytes
        Octets of a frame with its check sequence; the preamble comes on top.

    Examples
    --------
    >>> f"{frame_loss_ratio(CODES['rs272'], bit_error_ratio=3e-4, frame_bytes=9000):.3e}"
    '6.287e-05'
    >>> f"{frame_loss_ratio(None, bit_error_ratio=1e-9, frame_bytes=1518):.4e}"
    '1.2208e-05'
    """
    length = int(_validate.count("frame_bytes", frame_bytes, at_least=1)) + PREAMBLE_BYTES
    if code is None:
        return _without_code(bit_error_ratio, repeat, line_bits, 8 * length)
    group = group_error_ratio(
        code,
        bit_error_ratio=bit_error_ratio,
        repeat=repeat,
        line_bits=line_bits,
        interleaved=interleaved,
    )
    return any_of(group, 1 + (length - 1) / (interleaved * code.message_bytes))


def bit_error_ratio_for(
    loss_ratio: float,
    code: Code | None,
    *,
    frame_bytes: int,
    repeat: float = 0.0,
    line_bits: int = PAM4_BITS,
    interleaved: int = 1,
) -> float:
    """Return the bit error ratio with which a line loses as many frames; parameters as of `frame_loss_ratio`.

    Raises
    ------
    ValueError
        Bit errors from `LEAST_BIT_ERROR_RATIO` to 0.5 lose more, or less.

    Examples
    --------
    >>> f"{bit_error_ratio_for(1e-8, CODES['rs544'], frame_bytes=1538):.3g}"
    '0.000424'
    """
    wanted = float(_validate.open_ratio("loss_ratio", loss_ratio))

    def excess(logarithm: float) -> float:
        lost = frame_loss_ratio(
            code,
            bit_error_ratio=float(np.exp(logarithm)),
            frame_bytes=frame_bytes,
            repeat=repeat,
            line_bits=line_bits,
            interleaved=interleaved,
        )
        return float(np.log(max(lost, np.finfo(float).tiny)) - np.log(wanted))

    ends = np.log(LEAST_BIT_ERROR_RATIO), np.log(0.5)
    if excess(ends[0]) > 0 or excess(ends[1]) < 0:
        raise ValueError(
            f"no bit error ratio from {LEAST_BIT_ERROR_RATIO:g} to 0.5 loses {wanted:g} of frames"
        )
    return float(np.exp(optimize.brentq(excess, *ends, xtol=1e-12, rtol=1e-12)))


def undetected_codeword_ratio(code: Code, *, codeword_error_ratio: float) -> float:
    """Return an upper bound of the share of codewords that come out wrong and unmarked.

    A word with more wrong symbols than the code corrects is taken for another codeword only if it lies within
    reach of one. Of all words a share does that is at most 1 over the factorial of the symbols that the code
    corrects, and less where the code is shortened (McEliece and Swanson, "On the decoder error probability
    for Reed-Solomon codes", IEEE Transactions on Information Theory 32, 1986).

    Examples
    --------
    >>> f"{undetected_codeword_ratio(CODES['rs544'], codeword_error_ratio=1e-8):.1e}"
    '4.7e-25'
    """
    ratio = float(_validate.ratio("codeword_error_ratio", codeword_error_ratio))
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


def _check(bit_error_ratio: float, repeat: float, line_bits: int, code: Code | None) -> None:
    if not 0 <= bit_error_ratio <= 0.5:
        raise ValueError(f"bit_error_ratio must be from 0 to 0.5, not {bit_error_ratio:g}")
    if not 0 <= repeat < 1:
        raise ValueError(f"repeat must be from 0 to below 1, not {repeat:g}")
    if line_bits not in (1, PAM4_BITS) or (code is not None and code.symbol_bits % line_bits):
        raise ValueError(
            f"line_bits must be 1 (NRZ) or 2 (PAM4) and divide the bits of a symbol, not {line_bits}"
        )


@dataclass(frozen=True)
class _Line:
    """Line symbols as a chain: how likely one is wrong behind a right one, behind a wrong one, and at all."""

    behind_right: float
    behind_wrong: float
    wrong: float

    @classmethod
    def of(cls, bit_error_ratio: float, repeat: float, line_bits: int) -> _Line:
        """Return the chain whose line symbols are wrong as often as bits of that error ratio make them."""
        wrong = any_of(bit_error_ratio, line_bits)
        fresh = wrong * (1 - repeat) / (1 - repeat * wrong)
        return cls(fresh, repeat + (1 - repeat) * fresh, wrong)

    @property
    def start(self) -> FloatArray:
        """Shares of right and wrong line symbols."""
        return np.array([1 - self.wrong, self.wrong])

    def over(self, line_symbols: int) -> tuple[FloatArray, FloatArray]:
        """Return from state to state over a code symbol: without an error in it, and with one."""
        clean, hit = np.zeros((2, 2)), np.zeros((2, 2))
        for state, first in enumerate((self.behind_right, self.behind_wrong)):
            right, right_again, wrong = 1 - first, 0.0, first
            for _ in range(line_symbols - 1):
                right, right_again, wrong = (
                    right * (1 - self.behind_right),
                    right_again * (1 - self.behind_right) + wrong * (1 - self.behind_wrong),
                    (right + right_again) * self.behind_right + wrong * self.behind_wrong,
                )
            clean[state, 0], hit[state] = right, (right_again, wrong)
        return clean, hit


@lru_cache(maxsize=64)
def _failing(
    code: Code, bit_error_ratio: float, repeat: float, line_bits: int, interleaved: int, *, watched: int
) -> float:
    """Return how likely one of the first ``watched`` codewords of a group has too many wrong symbols.

    Each has a count of its wrong symbols, up to one that is too many, which stays. The codewords take symbols
    in turn, and the chain of the line goes through all of them.
    """
    line = _Line.of(bit_error_ratio, repeat, line_bits)
    clean, hit = line.over(code.symbol_bits // line_bits)
    passed = np.linalg.matrix_power(clean + hit, interleaved - watched)
    shares = np.zeros((code.corrects + 2,) * watched + (2,))
    shares[(0,) * watched] = line.start
    for _ in range(code.symbols):
        for codeword in range(watched):
            shares = _counted(shares, codeword, clean, hit)
        shares = shares @ passed
    whole = shares[(slice(None, -1),) * watched]
    return float(_sum_but(shares, whole.shape))


def _counted(shares: FloatArray, codeword: int, clean: FloatArray, hit: FloatArray) -> FloatArray:
    """Take one code symbol of a codeword into account."""
    before = np.moveaxis(shares, codeword, 0)
    after = before @ clean
    more = before @ hit
    after[1:] += more[:-1]
    after[-1] += more[-1]
    return np.moveaxis(after, 0, codeword)


def _sum_but(shares: FloatArray, inner: tuple[int, ...]) -> float:
    """Sum what lies outside of the inner part: adding it up loses no digits, 1 less the inner part does."""
    outside = np.ones(shares.shape, dtype=bool)
    outside[tuple(slice(size) for size in inner)] = False
    return float(shares[outside].sum())


def _without_code(bit_error_ratio: float, repeat: float, line_bits: int, bits: int) -> float:
    """Return how likely any of so many bits is wrong."""
    _check(bit_error_ratio, repeat, line_bits, None)
    if repeat == 0.0:
        return any_of(bit_error_ratio, bits)
    line = _Line.of(bit_error_ratio, repeat, line_bits)
    more = bits / line_bits - 1
    return float(-np.expm1(np.log1p(-line.wrong) + more * np.log1p(-line.behind_right)))
