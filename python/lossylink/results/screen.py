"""How wide the screen is, and a table as lines of text, in which no word and no number is ever broken.

Without a width each row is one line. Within a width, the columns that do not fit beside each other follow in
further parts, below each other, each with the columns that say what a row is of. Sentences stand in the last
column, and are broken between words; where they have too little room, they stand below their row.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

#: Columns of a terminal that does not say how wide it is.
_USUAL = 80
#: Blanks between two columns.
GAP = 2
#: Columns that sentences have at least beside the other columns.
SENTENCE = 32
#: Blanks in front of a sentence below its row.
_INDENT = 4
_BOLD = "bold"

Line: TypeAlias = tuple[tuple[str, str], ...]
"""Texts that follow each other, each with its style."""
Cells: TypeAlias = Sequence[str]


class Grid(Struct, frozen=True):
    """A table: lines of heads, then rows."""

    heads: Sequence[Cells]
    rows: Sequence[Cells]
    left: frozenset[int] = frozenset({0})
    """Columns whose words begin below each other; those of others end below each other."""
    keys: int = 1
    """How many of the first columns say what a row is of."""
    joined: frozenset[int] = frozenset()
    """Columns that stay beside the column before them, such as an interval beside its figure."""
    has_sentences: bool = False
    """Whether the last column has sentences, which begin below each other."""
    styles: Mapping[str, str] = {}
    """Styles of words that are whole cells, as rich names them."""


def screen_width() -> int | None:
    """Return the columns of the standard output, or nothing where lines may be as long as they need to be.

    COLUMNS has the last word, also of a pipe.
    """
    if os.environ.get("COLUMNS", "").isdecimal():
        return int(os.environ["COLUMNS"])
    if not sys.stdout.isatty():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return _USUAL


def is_drawn() -> bool:
    """Whether the standard output shows colours, for which rich is loaded."""
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def cell(value: Any) -> str:
    """Write a value shortly: six digits, thousands apart, failed checks by name.

    Examples
    --------
    >>> cell(0.00123456789), cell(100_000_000), cell(None), cell([0.0, 1e-8])
    ('0.00123457', '100,000,000', '-', '0 .. 1e-08')
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " .. ".join(map(cell, value))
    if isinstance(value, Mapping):
        failed = [name for name, verdict in value.items() if verdict and verdict["passed"] is False]
        return f"failed: {', '.join(failed)}" if failed else "passed"
    return str(value)


def plain(grid: Grid, width: int | None = None) -> list[str]:
    r"""Return a table as lines of text.

    Parameters
    ----------
    width
        Columns of the screen; without them a row is one line.

    Examples
    --------
    >>> heads = [["", "speed", "delay"], ["", "Gb/s", "us"]]
    >>> one = Grid(heads, [["lg", "91.2", "4"], ["lg-nb", "99.6", "1.5"]])
    >>> print("\n".join(plain(one)))
           speed  delay
            Gb/s     us
    lg      91.2      4
    lg-nb   99.6    1.5
    >>> print("\n".join(plain(one, width=14)))
           speed
            Gb/s
    lg      91.2
    lg-nb   99.6
    <BLANKLINE>
           delay
              us
    lg         4
    lg-nb    1.5
    """
    return ["".join(text for text, _ in line).rstrip() for line in laid_out(grid, width)]


def laid_out(grid: Grid, width: int | None = None) -> Iterator[Line]:
    """Yield the lines of a table with their styles."""
    widths = _widths(grid)
    places = range(len(widths))
    if width is None or _taken(widths) <= width:
        yield from _lines(grid, widths, places)
        return
    if not grid.has_sentences:
        yield from _parts(grid, widths, _split(grid, widths, width), None)
        return
    room = width - _taken(widths[:-1]) - GAP
    if room >= SENTENCE:
        yield from _lines(grid, [*widths[:-1], room], places)
    else:
        yield from _parts(grid, widths, _split(grid, widths[:-1], width), max(width - _INDENT, 1))


def size(grid: Grid) -> int:
    """Return the columns of the screen that a table takes where nothing is broken."""
    return _taken(_widths(grid))


def _widths(grid: Grid) -> list[int]:
    return [max(map(len, column)) for column in zip(*grid.heads, *grid.rows, strict=True)]


def _taken(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _split(grid: Grid, widths: Sequence[int], width: int) -> list[list[int]]:
    """Return the columns of each part: the keys, and as many others as fit beside them, but one at least."""
    groups: list[list[int]] = []
    for place in range(grid.keys, len(widths)):
        if groups and place in grid.joined:
            groups[-1].append(place)
        else:
            groups.append([place])
    keys = list(range(grid.keys))
    parts = [keys]
    for group in groups:
        is_begun = len(parts[-1]) > len(keys)
        if is_begun and _taken([widths[place] for place in (*parts[-1], *group)]) > width:
            parts.append(keys)
        parts[-1] = parts[-1] + group
    return parts


def _parts(
    grid: Grid, widths: Sequence[int], parts: Sequence[Sequence[int]], below: int | None
) -> Iterator[Line]:
    for part in parts:
        if part is not parts[0]:
            yield ()
        yield from _lines(grid, widths, part, below if part is parts[-1] else None)


def _lines(
    grid: Grid, widths: Sequence[int], places: Sequence[int], below: int | None = None
) -> Iterator[Line]:
    """Yield the lines of one part, and below each row its sentence where it has a width there."""
    for head in grid.heads:
        if any(head[place] for place in places):
            yield _line(grid, widths, places, head, _BOLD)
    for row in grid.rows:
        *others, last = row
        is_long = places[-1] == len(row) - 1 and len(last) > widths[-1]
        first, *rest = broken(last, widths[-1]) if is_long else [last]
        yield _line(grid, widths, places, [*others, first])
        for more in rest:
            yield _line(grid, widths, places, [*("" for _ in others), more])
        for words in broken(last, below) if below is not None and last else ():
            yield ((f"{'':{_INDENT}}{words}", ""),)


def _line(grid: Grid, widths: Sequence[int], places: Sequence[int], cells: Cells, style: str = "") -> Line:
    line = []
    for place in places:
        is_left = place in grid.left or (grid.has_sentences and place == len(cells) - 1)
        word, columns = cells[place], widths[place]
        text = word.ljust(columns) if is_left else word.rjust(columns)
        gap = "" if place == places[-1] else " " * GAP
        line.append((text + gap, style or grid.styles.get(word, "")))
    return tuple(line)


def broken(text: str, width: int) -> list[str]:
    """Return the lines of a text, which is broken between words alone; a longer word has a line of its own.

    Examples
    --------
    >>> broken("lossylink plan --loss 1e-3", 12)
    ['lossylink', 'plan --loss', '1e-3']
    """
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
