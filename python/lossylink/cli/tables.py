"""Rows on the screen or in a file: the columns that matter, or every key.

Rich draws what a terminal shows. A file or a pipe gets the same in plain text, for which rich is not loaded.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lossylink.cli.fitting import GAP, fitting, notes
from lossylink.results.frames import aligned
from lossylink.results.headline import Headline, headline, why_failed
from lossylink.statistics.ratios import Sample

if TYPE_CHECKING:
    from rich.console import Console

#: Width of what is no terminal, unless COLUMNS says another.
_PLAIN_WIDTH = 80


def show_rows(
    experiment: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    places: Sequence[str] = (),
    every_key: bool = False,
    sample: Sample | None = None,
    console: Console | None = None,
) -> None:
    """Print rows: their headline, or every key of them.

    Parameters
    ----------
    places
        Keys of a sweep's grid, which say what a row is of.
    sample
        The flows of a run, for intervals of ratios.
    console
        Where rich prints them; by default the standard output, without rich where that is no terminal.
    """
    if not rows:
        return
    if console is None and not every_key and not _is_drawn():
        _print_plainly(headline(experiment, rows, places=places, sample=sample), rows, places)
        return
    from rich.console import Console  # loads for longer than a short run lasts

    from lossylink.cli.drawn_tables import drawn, print_every_key

    console = console or Console()
    if every_key:
        print_every_key(rows, console)
        for words in why_failed(rows, places):
            console.print(words, style="red", highlight=False)
        return
    table = headline(experiment, rows, places=places, sample=sample)
    count = fitting(table, console.width)
    console.print(drawn(table, count))
    for words, style in notes(table, count, rows, places):
        console.print(words, style=style, highlight=False)


def _is_drawn() -> bool:
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def _print_plainly(table: Headline, rows: Sequence[Mapping[str, Any]], places: Sequence[str]) -> None:
    width = _width()
    count = fitting(table, width)
    heads = [table.labels, table.units] if any(table.units[:count]) else [table.labels]
    lines = [line[:count] for line in (*heads, *table.rows)]
    left = {place for place, label in enumerate(table.labels) if label == "protection"}
    print("\n".join(aligned(lines, left=left, gap=GAP)))
    why = why_failed(rows, places)
    for words, _ in notes(table, count, rows, places):
        # Why a check failed is one line, however long: whoever looks for it finds it whole.
        print(words if words in why else textwrap.fill(words, width))


def _width() -> int:
    """Return the width of the terminal that any of the standard streams is, or of what is none."""
    if os.environ.get("COLUMNS", "").isdecimal():
        return int(os.environ["COLUMNS"])
    for stream in range(3):
        try:
            return os.get_terminal_size(stream).columns
        except OSError:
            continue
    return _PLAIN_WIDTH
