"""Rows as tables on the screen: the columns that matter, or every key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from lossylink.frames import cell
from lossylink.headline import FEW, Headline, headline
from lossylink.percentiles import LEAST_BEYOND

#: Up to this many rows are shown as columns where every key is shown.
SIDE_BY_SIDE = 6
_GAP = 2


def show_rows(
    experiment: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    places: Sequence[str] = (),
    every_key: bool = False,
    console: Console | None = None,
) -> None:
    """Print rows: their headline, or every key of them.

    Parameters
    ----------
    places
        Keys of a sweep's grid, which say what a row is of.
    """
    if not rows:
        return
    console = console or Console()
    if every_key:
        print_every_key(rows, console)
        return
    table = headline(experiment, rows, places=places)
    fitting = _fitting(table, console.width)
    console.print(_drawn(table, fitting))
    if any(text == FEW for row in table.rows for text in row[:fitting]):
        words = f"{FEW}: fewer than {LEAST_BEYOND} were slower; more trials tell"
        console.print(words, style="dim", highlight=False)
    for words in unfinished(rows):
        console.print(words, style="yellow", highlight=False)
    left_out = len({key for row in rows for key in row}) - fitting
    hidden = [label for label in table.labels[fitting:] if not label.startswith("/")]
    words = f" ({', '.join(hidden)} did not fit)" if hidden else ""
    if left_out > 0:
        console.print(f"--all shows the other {left_out} figures{words}", style="dim", highlight=False)


def table_of(
    experiment: str, rows: Sequence[Mapping[str, Any]], *, places: Sequence[str], width: int
) -> Table:
    """Return the headline of rows as a table that fits a width."""
    table = headline(experiment, rows, places=places)
    return _drawn(table, _fitting(table, width))


def unfinished(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each row whose figures leave flows out because these did not end.

    Examples
    --------
    >>> unfinished([{"protection": "none", "trials": 0, "flows_unfinished": 200, "protocol": "tcp"}])
    ['none: 200 of 200 flows did not end, and enter no figure']
    >>> unfinished([{"protection": "lg", "trials": 200, "flows_unfinished": 0}])
    []
    """
    lines = []
    for row in rows:
        left = row.get("flows_unfinished") or 0
        if left:
            whole = left + row.get("trials", 0)
            words = f"{row['protection']}: {left:,} of {whole:,} flows did not end, and enter no figure"
            # Writes at line rate overload a link whose losses go-back-N repeats.
            mend = "; transport.dcqcn=on, or a lower flow.load, lets more end"
            lines.append(words + (mend if row.get("protocol") == "rdma" else ""))
    return lines


def _fitting(table: Headline, width: int) -> int:
    """How many columns fit beside each other."""
    taken = 0
    for place, (label, unit) in enumerate(zip(table.labels, table.units, strict=True)):
        taken += max(len(text) for text in (label, unit, *(row[place] for row in table.rows))) + _GAP
        if taken - _GAP > width:
            return max(place, 1)
    return len(table.labels)


def _drawn(table: Headline, count: int) -> Table:
    drawn = Table(box=None, header_style="bold", pad_edge=False, padding=(0, _GAP, 0, 0))
    has_units = any(table.units[:count])
    for label, unit in zip(table.labels[:count], table.units[:count], strict=True):
        justify: Any = "left" if label == "protection" else "right"
        drawn.add_column(f"{label}\n{unit}" if has_units else label, justify=justify, no_wrap=True)
    for row in table.rows:
        drawn.add_row(*row[:count])
    return drawn


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
                table.add_row(key, *(cell(row.get(key)) for row in some))
        console.print(table)
