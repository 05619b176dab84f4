"""How the benchmarks print their tables."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

#: Columns of a line that every table here fits into.
_WIDE = 200


def show(table: Table) -> None:
    """Print a table without a break inside of a cell, however narrow the terminal is."""
    console = Console()
    console.width = max(_WIDE, console.width)
    console.print(table)
