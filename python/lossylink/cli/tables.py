"""Rows as tables on the screen: few rows stand side by side, many one under the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from lossylink.experiments import EXPERIMENTS
from lossylink.frames import cell

if TYPE_CHECKING:
    from lossylink.results import Run

#: Up to this many rows are shown as columns.
SIDE_BY_SIDE = 6


def show_rows(result: Run, *, console: Console | None = None) -> None:
    """Print the rows of a run."""
    rows = result.rows.to_dicts()
    if not rows:
        return
    table = (
        _side_by_side(rows)
        if len(rows) <= SIDE_BY_SIDE
        else _one_under_another(rows, _headline(result.experiment))
    )
    (console or Console(soft_wrap=len(rows) > SIDE_BY_SIDE)).print(table)


def _headline(experiment: str) -> tuple[str, ...]:
    declared = EXPERIMENTS[experiment]
    return declared.headline + declared.rare_row_keys


def _side_by_side(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("")
    for row in rows:
        table.add_column(str(row.get("protection", "")), justify="right")
    for key in rows[0]:
        if key != "protection":
            table.add_row(key, *(cell(row.get(key)) for row in rows))
    return table


def _one_under_another(rows: list[dict[str, Any]], headline: Sequence[str]) -> Table:
    keys = [key for key in headline if key in rows[0]]
    table = Table(box=None, header_style="bold", pad_edge=False)
    for key in keys:
        table.add_column(key, justify="right")
    for row in rows:
        table.add_row(*(cell(row[key]) for key in keys))
    return table
