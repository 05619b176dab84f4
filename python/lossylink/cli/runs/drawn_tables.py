"""Rows as tables that rich draws: for terminals, and for all keys of a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from lossylink.cli.runs.fitting import fitting, grid_of
from lossylink.results.drawn import Drawn, show
from lossylink.results.headline import headline
from lossylink.results.screen import Grid, cell, size
from lossylink.statistics.percentiles import NEVER, is_never

#: As many rows stand side by side at most where every key is shown.
SIDE_BY_SIDE = 5


def table_of(
    experiment: str, rows: Sequence[Mapping[str, Any]], *, places: Sequence[str], width: int
) -> Drawn:
    """Return the headline of rows as a table that fits a width."""
    table = headline(experiment, rows, places=places)
    return Drawn(grid_of(table, fitting(table, width)))


def print_every_key(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print all keys: as many rows as fit stand side by side, and others below."""
    first = 0
    while first < len(rows):
        some = rows[first : first + SIDE_BY_SIDE]
        while len(some) > 1 and size(_every_key(some)) > console.width:
            some = some[:-1]
        show(console, Drawn(_every_key(some)))
        first += len(some)


def _every_key(rows: Sequence[Mapping[str, Any]]) -> Grid:
    """Return a column for each row, and a line for each key of any of them."""
    keys = [key for key in dict.fromkeys(key for row in rows for key in row) if key != "protection"]
    lines = [[key, *(NEVER if is_never(key, row) else cell(row.get(key)) for row in rows)] for key in keys]
    return Grid([["", *(str(row.get("protection", "")) for row in rows)]], lines)
