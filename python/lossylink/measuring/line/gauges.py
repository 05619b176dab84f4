"""What the gauges of a line have counted: codewords by their wrong symbols, corrected bits, and the time.

Every reader of a tool's output makes `Gauges`. Counters only grow, so two readings have a difference. A
gauge that is a ratio already, such as a bit error ratio before FEC, has none.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final, NamedTuple, TypeVar

from lossylink.errors import UserError

Number = TypeVar("Number", int, float)

RATIOS: Final = ("pre_fec_ber",)
"""Fields that are ratios: a difference of two readings keeps the later one's."""


class Bin(NamedTuple):
    """A bin of a histogram: codewords that had from ``low`` to ``high`` wrong symbols, both included."""

    low: int
    high: int
    codewords: int

    @property
    def label(self) -> str:
        """The bin in words.

        Examples
        --------
        >>> Bin(3, 3, 12).label, Bin(4, 7, 1).label
        ('bin 3', 'bin 4 to 7')
        """
        return f"bin {self.low}" if self.low == self.high else f"bin {self.low} to {self.high}"


@dataclass(frozen=True, kw_only=True)
class Gauges:
    """One reading of the gauges of one line, or the difference of two; nothing where a gauge is missing."""

    source: str
    """The tool whose text it was."""
    histogram: tuple[Bin, ...] = ()
    """Codewords by wrong symbols, ascending."""
    corrected: int | None = None
    """Codewords with wrong symbols that were corrected."""
    uncorrectable: int | None = None
    """Codewords with too many wrong symbols."""
    symbol_errors: int | None = None
    """Wrong symbols."""
    corrected_bits: int | None = None
    """Wrong bits that were corrected."""
    lane_bits: tuple[int, ...] = ()
    """Wrong bits of each lane."""
    bits: int | None = None
    """Bits received."""
    codewords: int | None = None
    """Codewords received."""
    pre_fec_ber: float | None = None
    """Bit error ratio before the code, as the tool computed it."""
    seconds: float | None = None
    """Time over which was counted, where the tool tells it."""

    @property
    def wrong_bits(self) -> int | None:
        """Wrong bits before the code: those that were corrected, or those of all lanes."""
        if self.corrected_bits is None:
            return sum(self.lane_bits) if self.lane_bits else None
        return self.corrected_bits

    @property
    def is_empty(self) -> bool:
        """Whether no gauge of the code is there."""
        others = (self.corrected, self.uncorrectable, self.symbol_errors, self.wrong_bits, self.pre_fec_ber)
        return not self.histogram and all(one is None for one in others)

    def since(self, earlier: Gauges) -> Gauges:
        """Return what was counted after an earlier reading of the same line by the same tool.

        Raises
        ------
        UserError
            A counter runs backwards, or the two have other bins.

        Examples
        --------
        >>> Gauges(source="CSV", corrected=7).since(Gauges(source="CSV", corrected=4)).corrected
        3
        """
        if [one[:2] for one in self.histogram] != [one[:2] for one in earlier.histogram]:
            raise UserError("the two readings have other bins; give two of one tool and one line")
        bins = tuple(
            Bin(now.low, now.high, _grown(now.label, now.codewords, before.codewords))
            for now, before in zip(self.histogram, earlier.histogram, strict=True)
        )
        lanes = tuple(
            _grown(f"lane {number}", now, before)
            for number, (now, before) in enumerate(zip(self.lane_bits, earlier.lane_bits, strict=False))
        )
        counted: dict[str, Any] = {}
        for one in fields(self):
            now, before = getattr(self, one.name), getattr(earlier, one.name)
            if isinstance(now, int | float) and one.name not in RATIOS:
                counted[one.name] = None if before is None else _grown(one.name, now, before)
        return replace(self, histogram=bins, lane_bits=lanes, **counted)


def _grown(name: str, now: Number, before: Number) -> Number:
    if now < before:
        raise UserError(
            f"{name} runs backwards, from {before:,} to {now:,}: give the earlier reading to --before, and "
            "readings between which nothing cleared the counters"
        )
    return now - before


def count_of(text: str, *, where: str) -> int:
    """Read a counter, with or without commas between thousands.

    Raises
    ------
    UserError
        It is negative, empty, or no whole number.

    Examples
    --------
    >>> count_of("1,334", where="FEC_CORR")
    1334
    """
    plain = text.strip().replace(",", "")
    if not plain:
        raise UserError(f"{where} is empty; write 0 where nothing was counted")
    if plain.startswith("-") and plain[1:].isdecimal():
        raise UserError(f"{where} is {plain}: a counter is never negative")
    if not plain.isdecimal():
        raise UserError(f"{where} is '{text.strip()}', which is no whole number")
    return int(plain)


def ratio_of(text: str) -> float | None:
    """Read a ratio as tools print it; nothing where it says that there is none.

    mlxlink prints 15E-255 where it has no error to tell of.

    Examples
    --------
    >>> ratio_of("2E-6"), ratio_of("15E-255"), ratio_of("N/A")
    (2e-06, 0.0, None)
    """
    try:
        value = float(text.strip())
    except ValueError:
        return None
    if not 0 <= value <= _MOST_RATIO:
        raise UserError(f"a bit error ratio of {text.strip()} is none; it lies between 0 and {_MOST_RATIO}")
    return value if value > _LEAST_RATIO else 0.0


#: A ratio below this stands for none: no line runs for so long.
_LEAST_RATIO: Final = 1e-50
#: At this ratio bits say nothing.
_MOST_RATIO: Final = 0.5
