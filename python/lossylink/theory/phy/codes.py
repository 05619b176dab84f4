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

_BLOCK_BITS, _BLOCK_BYTES = 257, 32
_FIRECODE_BLOCK_BITS, _FIRECODE_BLOCK_BYTES = 65, 8
_BITS_OF_BYTE = 8


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
    def exact_message_bytes(self) -> Fraction:
        """Octets of the stream of frames in a codeword, which need not be whole."""
        return Fraction(self.message_symbols * self.symbol_bits * _BLOCK_BYTES, _BLOCK_BITS)

    @property
    def message_bytes(self) -> float:
        """Octets of the stream of frames in a codeword."""
        return float(self.exact_message_bytes)

    @property
    def bits(self) -> int:
        """Bits of a codeword on the line."""
        return self.symbols * self.symbol_bits

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
