"""The words of a grid: lists, files, ranges; and the combinations of what they say."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from lossylink.errors import UserError

#: Most points of one sweep: beyond it a grid is a slip of the keyboard.
MAX_POINTS = 100_000

_NUMBER = r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
_RANGE = re.compile(
    rf"(?P<first>{_NUMBER})(?P<unit>[A-Za-z%/]*)\.\.(?P<last>{_NUMBER})(?P<same>[A-Za-z%/]*)"
    r"(?::(?P<kind>[a-z]+)(?P<count>\d+))?"
)
#: Digits of the values between the ends of a range.
_DIGITS = 6


def parse_grid(words: Sequence[str], *, option: str = "--grid") -> dict[str, list[str]]:
    r"""Split ``KEY=A,B,...`` words; ``\,`` is a comma inside a value.

    A value may be a range (see `ranged`). ``KEY=@FILE`` takes the lines of a file.

    Raises
    ------
    UserError
        A word is no list of values, or a key comes twice.

    Examples
    --------
    >>> parse_grid(["link.rate=25G,100G", r"protection=lg:copies=3\,tail=off,none"])
    {'link.rate': ['25G', '100G'], 'protection': ['lg:copies=3,tail=off', 'none']}
    >>> parse_grid(["seed=1..3,7"])
    {'seed': ['1', '2', '3', '7']}
    """
    grid: dict[str, list[str]] = {}
    for word in words:
        key, equals, rest = (part.strip() for part in word.partition("="))
        values = _lines(word, Path(rest[1:]), option) if rest.startswith("@") else _values(rest)
        if not (key and equals) or not all(values):
            raise UserError(
                f"{option} {word}: write KEY=A,B,..., for instance {option} loss.forward=1e-3,1e-2"
            )
        if key in grid:
            raise UserError(f"{option} {key} is given twice")
        try:
            grid[key] = [one for value in values for one in ranged(value)]
        except ValueError as error:
            raise UserError(f"{option} {word}: {error}") from None
    return grid


def _values(text: str) -> list[str]:
    return [part.replace("\0", ",").strip() for part in text.replace("\\,", "\0").split(",")]


def _lines(word: str, path: Path, option: str) -> list[str]:
    """Return the lines of a file that hold a value: neither empty nor a comment."""
    try:
        lines = path.expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UserError(f"{option} {word}: cannot read {path}: {why}") from None
    values = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    if not values:
        raise UserError(f"{option} {word}: {path} holds no values; write one a line")
    return values


def ranged(word: str) -> list[str]:
    """Return the values of a range, or the word itself if it is none.

    ``A..B:logN`` is N values with equal ratios, ``A..B:linN`` N values with equal steps, both ends included;
    ``A..B`` is every whole number.

    Examples
    --------
    >>> ranged("1e-4..1e-2:log3"), ranged("25G..100G:lin4"), ranged("1..3"), ranged("lg")
    (['1e-4', '0.001', '1e-2'], ['25G', '50G', '75G', '100G'], ['1', '2', '3'], ['lg'])
    """
    found = _RANGE.fullmatch(word)
    if found is None:
        return [word]
    first, last, unit = Decimal(found["first"]), Decimal(found["last"]), found["same"] or found["unit"]
    if found["unit"] not in ("", unit):
        raise ValueError("give both ends of a range the same unit")
    if found["kind"] is None:
        return [f"{number}{unit}" for number in _whole_numbers(first, last)]
    count = int(found["count"])
    if not 2 <= count <= MAX_POINTS:
        raise ValueError(f"a range has 2 to {MAX_POINTS} values")
    between = _between(found["kind"], float(first), float(last), count)
    return [
        f"{found['first']}{unit}",
        *(f"{one:.{_DIGITS}g}{unit}" for one in between),
        f"{found['last']}{unit}",
    ]


def _whole_numbers(first: Decimal, last: Decimal) -> range:
    if first != int(first) or last != int(last) or first > last:
        raise ValueError("A..B counts whole numbers upward; write A..B:log9 or A..B:lin9 for others")
    if last - first >= MAX_POINTS:
        raise ValueError(f"a range has 2 to {MAX_POINTS} values")
    return range(int(first), int(last) + 1)


def _between(kind: str, first: float, last: float, count: int) -> Iterator[float]:
    steps = range(1, count - 1)
    if kind == "lin":
        return (first + (last - first) * step / (count - 1) for step in steps)
    if kind != "log":
        raise ValueError(f"a range is log or lin, not {kind}: write A..B:log9")
    if first <= 0 or last <= 0:
        raise ValueError("the ends of a logarithmic range are above 0")
    return (first * (last / first) ** (step / (count - 1)) for step in steps)


def combinations(
    grid: Mapping[str, Sequence[Any]], zipped: Mapping[str, Sequence[Any]] | None = None
) -> list[dict[str, Any]]:
    """Return every combination of the grid's values with every place of the zipped lists, in order.

    Raises
    ------
    UserError
        There are no values, too many points, a key in both, or zipped lists of different lengths.

    Examples
    --------
    >>> combinations({"seed": [1, 2]}, {"link.rate": ["25G", "100G"], "flow.size": ["1KB", "4KB"]})[1]
    {'seed': 1, 'link.rate': '100G', 'flow.size': '4KB'}
    """
    zipped = zipped or {}
    both = grid.keys() & zipped.keys()
    if both:
        raise UserError(f"the key {min(both)} is in the grid and zipped; leave one out")
    lengths = {key: len(values) for key, values in {**grid, **zipped}.items()}
    empty = [key for key, length in lengths.items() if not length]
    if empty:
        raise UserError(f"the grid key {empty[0]} has no values")
    if len({lengths[key] for key in zipped}) > 1:
        words = ", ".join(f"{key} has {lengths[key]}" for key in zipped)
        raise UserError(f"zipped keys need as many values each: {words}")
    total = math.prod(lengths[key] for key in (*grid, *list(zipped)[:1]))
    if not lengths or total > MAX_POINTS:
        raise UserError(f"the grid has {total if lengths else 0} points; a sweep has 1 to {MAX_POINTS}")
    rows = [dict(zip(zipped, values, strict=True)) for values in zip(*zipped.values(), strict=True)] or [{}]
    products = itertools.product(*grid.values())
    return [dict(zip(grid, values, strict=True)) | row for values in products for row in rows]
