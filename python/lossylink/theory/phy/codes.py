"""Codes of Ethernet lines: Reed-Solomon codes, the Firecode of 10 to 40 Gb/s, and none.

A codeword carries a fixed number of octets of the stream of frames, which are preambles, frames and gaps. A
Reed-Solomon code corrects half as many symbols as it adds, and its message is 257-bit blocks of 32 octets
each (256b/257b, IEEE 802.3 clauses 91 and 119). The Firecode's message is 65-bit blocks of 8 octets each
(clause 74), and the Firecode corrects one burst. A line without a code carries 66-bit blocks of 8 octets.

Left out is what a descrambler makes of an error on a line without a code: two more, 39 and 58 bits later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from lossylink.statistics import arguments

_BLOCK_BITS, _BLOCK_BYTES = 257, 32
_FIRECODE_BLOCK_BITS, _FIRECODE_BLOCK_BYTES = 65, 8
_PLAIN_BLOCK_BITS, _PLAIN_BLOCK_BYTES = 66, 8
_BITS_OF_BYTE = 8
_NS_OF_SECOND = 1e9


@dataclass(frozen=True)
class Code:
    """A Reed-Solomon code of a line.

    Examples
    --------
    >>> kp4 = Code(symbols=544, message_symbols=514, symbol_bits=10)
    >>> kp4.corrects, kp4.message_bytes, kp4.bits
    (15, Fraction(640, 1), 5440)
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
    def message_bytes(self) -> Fraction:
        """Octets of the stream of frames in a codeword, which need not be whole."""
        return Fraction(self.message_symbols * self.symbol_bits * _BLOCK_BYTES, _BLOCK_BITS)

    @property
    def bits(self) -> int:
        """Bits of a codeword on the line."""
        return self.symbols * self.symbol_bits


@dataclass(frozen=True)
class Firecode:
    """The code of IEEE 802.3 clause 74: a codeword may have one burst of wrong bits, however many are wrong.

    Examples
    --------
    >>> FIRECODE.bits, FIRECODE.burst_bits, FIRECODE.message_bytes
    (2112, 11, Fraction(256, 1))
    """

    bits: int = 2112
    message_bits: int = 2080
    burst_bits: int = 11

    @property
    def message_bytes(self) -> Fraction:
        """Octets of the stream of frames in a codeword."""
        return Fraction(self.message_bits * _FIRECODE_BLOCK_BYTES, _FIRECODE_BLOCK_BITS)


@dataclass(frozen=True)
class Uncoded:
    """No code: each octet of the stream is a codeword of one symbol, of which no bit may be wrong.

    The two bits in front of each 64 count in the overhead, and not as octets that can be hit.
    """

    symbols: int = 1
    symbol_bits: int = 8
    corrects: int = 0

    @property
    def message_bytes(self) -> Fraction:
        """Octets of the stream of frames in a codeword."""
        return Fraction(1)


Counted = Code | Uncoded
"""Codes of which a codeword fails by the number of its wrong symbols."""
LineCode = Code | Firecode | Uncoded
"""Everything that a line may have."""

UNCODED: Final = Uncoded()
FIRECODE: Final = Firecode()
#: Codes by the name that the field uses: KR4, KP4, and the low-latency code of the consortia.
CODES: Final = {"rs528": Code(528, 514), "rs544": Code(544, 514), "rs272": Code(272, 257)}


_NAMED: Final[dict[str, LineCode]] = {"none": UNCODED, "firecode": FIRECODE, **CODES}


def code_named(name: str) -> LineCode:
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
    if name not in _NAMED:
        raise ValueError(f"{name!r} is no code; valid: {', '.join(_NAMED)}, or rsN/K/m as rs544/514/10")
    return _NAMED[name]


def line_overhead(code: LineCode) -> float:
    """Return what the line carries over the octets of the stream: check symbols, and the bits of its blocks.

    Lines without a code, with the Firecode or with RS(528,514) run at the same speed: the blocks give up as
    many bits as these codes take.

    Examples
    --------
    >>> {name: f"{line_overhead(code_named(name)):.3%}" for name in ("none", "firecode", "rs528", "rs544")}
    {'none': '3.125%', 'firecode': '3.125%', 'rs528': '3.125%', 'rs544': '6.250%'}
    """
    if isinstance(code, Uncoded):
        return _PLAIN_BLOCK_BITS / (_PLAIN_BLOCK_BYTES * _BITS_OF_BYTE) - 1
    return float(code.bits / (code.message_bytes * _BITS_OF_BYTE)) - 1


def codeword_wait_ns(code: LineCode, *, rate_bps: float, interleaved: int = 1) -> float:
    """Return how long a decoder waits for a whole group of codewords; it waits for nothing without a code.

    Decoding comes on top: 50 to 150 ns by what vendors say.

    Parameters
    ----------
    rate_bps
        Rate of the link, at which the octets of the stream come.
    interleaved
        Codewords of a group.

    Examples
    --------
    >>> kp4, low_latency = code_named("rs544"), code_named("rs272")
    >>> [round(codeword_wait_ns(code, rate_bps=100e9), 1) for code in (kp4, low_latency)]
    [51.2, 25.6]
    """
    if isinstance(code, Uncoded):
        return 0.0
    rate = float(arguments.positive("rate_bps", rate_bps))
    return float(interleaved * code.message_bytes * _BITS_OF_BYTE) / rate * _NS_OF_SECOND
