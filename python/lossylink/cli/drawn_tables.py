"""Rows as tables that rich draws: for terminals, and for all keys of a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from lossylink.cli.fitting import GAP, fitting
from lossylink.results.frames import cell
from lossylink.results.headline import Headline, headline
from lossylink.statistics.percentiles import NEVER, is_never

#: Up to this many rows are shown as columns where every key is shown.
SIDE_BY_SIDE = 6


def table_of(
    experiment: str, rows: Sequence[Mapping[str, Any]], *, places: Sequence[str], width: int
) -> Table:
    """Return the headline of rows as a table that fits a width."""
    table = headline(experiment, rows, places=places)
    return drawn(table, fitting(table, width))


def drawn(table: Headline, count: int) -> Table:
    """Return the first columns of a headline."""
    grid = Table(box=None, header_style="bold", pad_edge=False, padding=(0, GAP, 0, 0))
    has_units = any(table.units[:count])
    for label, unit in zip(table.labels[:count], table.units[:count], strict=True):
        justify: Any = "left" if label == "protection" else "right"
        grid.add_column(f"{label}\n{unit}" if has_units else label, justify=justify, no_wrap=True)
    for row in table.rows:
        grid.add_row(*row[:count])
    return grid


def print_every_key(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print all keys: few rows stand side by side, many are blocks one under another."""
    for first in range(0, len(rows), SIDE_BY_SIDE):
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("")
        some = rows[first : first + SIDE_BY_SIDE]
        for row in some:
            table.add_column(str(row.get("protection", "")), justify="right")
        for key in dict.fromkeys(key for row in some for key in row):
            if key != "protection":
                table.add_row(key, *(NEVER if is_never(key, row) else cell(row.get(key)) for row in some))
        console.print(table)
