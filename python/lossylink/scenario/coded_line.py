"""A line with its code and the order of its bits, as closed forms take it: ``rs544,lanes=4,precoding=on``.

The words are those of ``phy:code=...`` without the bit error ratio, and `lossylink.scenario.phy` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lossylink.errors import UserError
from lossylink.scenario.phy import interleaved_at, parse_phy
from lossylink.theory.phy import Line, LineCode, LineOptions, code_named

#: Bit error ratios before FEC that operators allow, by the code: customs, and no limits of a standard.
_LIMITS: Final = {"rs544": 2.4e-4, "rs528": 2.1e-5, "none": 1e-12}


@dataclass(frozen=True, kw_only=True)
class CodedLine:
    """A line's code, the order of its bits, and how an equaliser repeats its errors."""

    name: str
    """The code by its name."""
    code: LineCode
    interleaved: int
    line_bits: int
    precoded: bool
    lanes: int
    repeat: float
    """The burst factor that was given; 0 where none was."""
    given: tuple[str, ...] = ()
    """What the user wrote behind the code, without the burst."""

    @classmethod
    def of(cls, native: Mapping[str, Any], *, given: tuple[str, ...] = ()) -> CodedLine:
        """Return the line of a loss model, given as JSON for a rate.

        Raises
        ------
        UserError
            There is no such code, or no such line.
        """
        try:
            line = cls(
                name=native["code"],
                code=code_named(native["code"]),
                interleaved=native["interleave"],
                line_bits=native["line_bits"],
                precoded=native["precoding"],
                lanes=native["lanes"],
                repeat=native["burst"],
                given=given,
            )
            Line(native["ber"], **line.options()).check(line.code)
        except ValueError as error:
            raise UserError(str(error)) from None
        return line

    @property
    def limit_bit_error_ratio(self) -> float | None:
        """The bit error ratio before FEC that operators allow with this code, if such a limit is in use."""
        return _LIMITS.get(self.name)

    def options(self, repeat: float | None = None) -> LineOptions:
        """Return the line as `lossylink.theory.phy` takes it, with another burst factor if one is given."""
        return LineOptions(
            repeat=self.repeat if repeat is None else repeat,
            line_bits=self.line_bits,
            interleaved=self.interleaved,
            precoded=self.precoded,
            lanes=self.lanes,
        )

    def spelling(self, bit_error_ratio: float, repeat: float | None = None) -> str:
        """Return the loss model of the line as ``--set loss.forward=`` takes it.

        Examples
        --------
        >>> read_coded_line("rs544,lanes=4", rate_bps=100e9).spelling(1e-4, 0.5)
        'phy:code=rs544,ber=0.0001,burst=0.5,lanes=4'
        """
        factor = self.repeat if repeat is None else repeat
        burst = [f"burst={factor:.6g}"] if factor else []
        return ",".join([f"phy:code={self.name}", f"ber={bit_error_ratio:.6g}", *burst, *self.given])


def read_coded_line(text: str, *, rate_bps: float) -> CodedLine:
    """Read a code and what the user says of the line.

    Parameters
    ----------
    text
        The code's name, and ``interleave``, ``precoding``, ``lanes``, ``modulation`` and ``burst`` behind it.
    rate_bps
        Rate of the line, on which the number of interleaved codewords depends.

    Raises
    ------
    UserError
        There is no such code or word, or its value is none.

    Examples
    --------
    >>> found = read_coded_line("rs544", rate_bps=400e9)
    >>> found.interleaved, found.line_bits
    (2, 2)
    """
    given = tuple(word.strip() for word in text.split(",")[1:])
    if any(word.lower().startswith("ber") for word in given):
        raise UserError(f"'{text}': a code has no bit error ratio; leave out ber")
    try:
        native = parse_phy(text, f"code={text},ber=0")
    except ValueError as error:
        raise UserError(str(error)) from None
    kept = tuple(word for word in given if not word.lower().startswith("burst"))
    return CodedLine.of(interleaved_at(native, rate_bps), given=kept)
