"""Rows as tables on the screen: few rows stand side by side, many one under the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from lossylink.experiments import EXPERIMENTS

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
    if isinstance(value, list):
        return " .. ".join(map(cell, value))
    if isinstance(value, dict):
        failed = [name for name, verdict in value.items() if verdict and verdict["passed"] is False]
        return f"failed: {', '.join(failed)}" if failed else "passed"
    return str(value)
