"""Rows on the screen or in a file: the columns that matter, or every key.

Rich draws what a terminal shows. A file or a pipe gets the same in plain text, for which rich is not loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lossylink.cli.runs.fitting import fitting, grid_of, notes
from lossylink.results.headline import Headline, headline, why_failed
from lossylink.results.screen import broken, is_drawn, plain, screen_width
from lossylink.statistics.ratios import Sample

if TYPE_CHECKING:
    from rich.console import Console


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
    if console is None and not every_key and not is_drawn():
        _print_plainly(headline(experiment, rows, places=places, sample=sample), rows, places)
        return
    from rich.text import Text  # loads for longer than a short run lasts

    from lossylink.cli.runs.drawn_tables import print_every_key
    from lossylink.results.drawn import Drawn, new_console, show

    console = console or new_console()
    if every_key:
        print_every_key(rows, console)
        show(console, *(Text(words, style="red") for words in why_failed(rows, places)))
        return
    table = headline(experiment, rows, places=places, sample=sample)
    count = fitting(table, console.width)
    show(console, Drawn(grid_of(table, count)))
    for words, style in notes(table, count, rows, places):
        show(console, Text(words, style=style))


def _print_plainly(table: Headline, rows: Sequence[Mapping[str, Any]], places: Sequence[str]) -> None:
    columns = screen_width()
    count = fitting(table, columns)
    print("\n".join(plain(grid_of(table, count))))
    why = why_failed(rows, places)
    for words, _ in notes(table, count, rows, places):
        # Why a check failed is one line, however long: whoever looks for it finds it whole.
        lines = [words] if columns is None or words in why else broken(words, columns)
        print("\n".join(lines))
