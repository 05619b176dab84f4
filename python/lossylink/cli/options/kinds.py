"""The kinds of values that options and arguments take: texts, numbers within bounds, paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


class _Text(click.types.StringParamType):
    """Any text. A shell completes names of files, since many a text may be one."""

    name = "str"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        return click.Path().shell_complete(ctx, param, incomplete)


class Number(click.ParamType[Any]):
    """A number within bounds.

    Parameters
    ----------
    name
        The kind of number, as help shows it.
    read
        Makes a number of a text, or raises a `ValueError`.
    noun
        The kind of number in a sentence, without its article.
    least, most
        The bounds, which are numbers of that kind; none where not given.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[Any], float],
        noun: str,
        *,
        least: float | None = None,
        most: float | None = None,
    ) -> None:
        self.name, self.least, self.most = name, least, most
        self._read, self._noun = read, noun

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number; a mistake says which numbers there are."""
        try:
            number = self._read(value)
        except ValueError:
            article = "an" if self._noun == "integer" else "a"
            words = f"a valid {self._noun}, unable to parse string as {article} {self._noun}"
            self.fail(f"Input should be {words}", param, ctx)
        if self.least is not None and not number >= self.least:
            self.fail(f"Input should be greater than or equal to {_plain(self.least)}", param, ctx)
        if self.most is not None and not number <= self.most:
            self.fail(f"Input should be less than or equal to {_plain(self.most)}", param, ctx)
        return number

    def range(self) -> str:
        """Return the bounds around an x; nothing where there are none."""
        low = "" if self.least is None else f"{self.least:g}<="
        high = "" if self.most is None else f"<={self.most:g}"
        return f"{low}x{high}" if low and high else f"x>={low[:-2]}" if low else f"x{high}" if high else ""


def whole(*, least: int | None = None, most: int | None = None) -> Number:
    """Return the kind of whole numbers within bounds."""
    return Number("int", _read_whole, "integer", least=least, most=most)


def real(*, least: float | None = None) -> Number:
    """Return the kind of numbers from a bound on."""
    return Number("float", float, "number", least=least)


def _read_whole(value: Any) -> int:
    return int(re.sub(r"\.0+$", "", str(value)))


def _plain(number: float) -> str:
    """Write a bound without an exponent.

    Examples
    --------
    >>> _plain(1e-9), _plain(0.1), _plain(10)
    ('0.000000001', '0.1', '10')
    """
    return f"{number:.9f}".rstrip("0").rstrip(".")


TEXT = _Text()
WHOLE = whole()
PATH = click.Path(readable=False, path_type=Path)
