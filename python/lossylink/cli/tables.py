"""Rows as tables on the screen: the columns that matter, or every key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lossylink.cli.plain import WIDTH, is_as_rich_prints, is_plain, plain_table
from lossylink.frames import cell
from lossylink.headline import FEW, Headline, headline
from lossylink.percentiles import LEAST_BEYOND

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

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
    table = None if every_key else headline(experiment, rows, places=places)
    if table is not None and console is None and is_plain() and _shown_plainly(table, rows):
        return
    from rich.console import Console  # which a pipe does without

    console = console or Console()
    if table is None:
        print_every_key(rows, console)
        return
    fitting = _fitting(table, console.width)
    console.print(_drawn(table, fitting))
    for words, style in _remarks(table, rows, fitting):
        console.print(words, style=style, highlight=False)


def _shown_plainly(table: Headline, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Print the headline as rich would where it styles nothing; tell whether that was possible."""
    fitting = _fitting(table, WIDTH)
    lines = plain_table(table, fitting, gap=_GAP)
    lines += [words for words, _ in _remarks(table, rows, fitting)]
    if not is_as_rich_prints(lines):
        return False
    print("\n".join(lines), flush=True)
    return True


def _remarks(table: Headline, rows: Sequence[Mapping[str, Any]], fitting: int) -> Iterator[tuple[str, str]]:
    """Yield the lines below a table, each with its style."""
    if any(text == FEW for row in table.rows for text in row[:fitting]):
        yield f"{FEW}: fewer than {LEAST_BEYOND} were slower; more trials tell", "dim"
    for words in unfinished(rows):
        yield words, "yellow"
    left_out = len({key for row in rows for key in row}) - fitting
    hidden = [label for label in table.labels[fitting:] if not label.startswith("/")]
    words = f" ({', '.join(hidden)} did not fit)" if hidden else ""
    if left_out > 0:
        yield f"--all shows the other {left_out} figures{words}", "dim"


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
    from rich.table import Table  # likewise

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
    from rich.table import Table  # likewise

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
