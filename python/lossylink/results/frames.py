"""Frames as people read them: plain columns for files, tables for screens and notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from lossylink.results.screen import Grid, cell, plain

if TYPE_CHECKING:
    import polars

#: Rows that a table on a screen shows.
SHOWN_ROWS = 20


def flat(frame: polars.DataFrame) -> polars.DataFrame:
    """Return a frame of plain columns: an interval becomes two, other lists and structures become text.

    Examples
    --------
    >>> import polars
    >>> rows = polars.DataFrame({"loss_ci95": [[0.0, 1e-8]], "checks": [{"queue": {"passed": True}}]})
    >>> flat(rows).row(0, named=True)
    {'loss_ci95_low': 0.0, 'loss_ci95_high': 1e-08, 'checks': 'passed'}
    """
    import polars

    columns: list[polars.Series] = []
    for name in frame.columns:
        column = frame[name]
        if name.endswith("_ci95"):
            pairs = [value if value is not None else (None, None) for value in column.to_list()]
            columns += [
                polars.Series(f"{name}_{end}", [pair[place] for pair in pairs], dtype=polars.Float64)
                for place, end in enumerate(("low", "high"))
            ]
        elif column.dtype.is_nested():
            words = [None if value is None else _in_words(value) for value in column.to_list()]
            columns.append(polars.Series(name, words, dtype=polars.String))
        else:
            columns.append(column)
    return polars.DataFrame(columns)


def _in_words(value: Any) -> str:
    """Write a list or a structure as text; a check that failed says why."""
    if not isinstance(value, Mapping):
        return cell(value)
    failed = [
        f"{name}: {verdict['message']}"
        for name, verdict in value.items()
        if verdict and verdict["passed"] is False
    ]
    return f"failed: {'; '.join(failed)}" if failed else "passed"


def text_table(frame: polars.DataFrame, *, most: int = SHOWN_ROWS) -> str:
    """Return the first rows of a table as text: the first column left, the others right.

    Examples
    --------
    >>> import polars
    >>> print(text_table(polars.DataFrame({"protection": ["none", "lg"], "packets": [1000, 20]})))
    protection  packets
    none          1,000
    lg               20
    """
    lines, left_out = _cells(frame, most)
    more = [f"... and {left_out:,} more rows"] if left_out else []
    return "\n".join([*plain(Grid(lines[:1], lines[1:])), *more])


def html_table(frame: polars.DataFrame, *, most: int = SHOWN_ROWS) -> str:
    """Return the first rows of a table as HTML, for notebooks.

    Examples
    --------
    >>> import polars
    >>> html_table(polars.DataFrame({"protection": ["<lg>"]}))
    '<table><thead><tr><th>protection</th></tr></thead><tbody><tr><td>&lt;lg&gt;</td></tr></tbody></table>'
    """
    (head, *lines), left_out = _cells(frame, most)
    headings = "".join(f"<th>{escape(word)}</th>" for word in head)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(word)}</td>' for word in line)}</tr>" for line in lines)
    more = f"<p>... and {left_out:,} more rows</p>" if left_out else ""
    return f"<table><thead><tr>{headings}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _cells(frame: polars.DataFrame, most: int) -> tuple[list[list[str]], int]:
    """Return the heads and the first rows as words, and how many rows are left out."""
    rows = [[cell(value) for value in row] for row in frame.head(most).iter_rows()]
    return [frame.columns, *rows], max(0, frame.height - most)
