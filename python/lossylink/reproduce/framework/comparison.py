"""A published table beside ours: value, published value and their ratio, cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.quantity import figure

ARow = TypeVar("ARow")
AColumn = TypeVar("AColumn")


@dataclass(frozen=True)
class Cell:
    """One quantity under one column; either side may be missing."""

    here: float | None = None
    published: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours over theirs; none when a side is missing or theirs is zero."""
        if self.here is None or not self.published:
            return None
        return self.here / self.published


@dataclass(frozen=True)
class Column:
    """A column of the published table; ``mark`` says, for instance, that it was used for calibration.

    ``short`` is the name where room is scarce, such as a terminal; ``digits`` is for tables whose columns are
    quantities and whose rows are variants.
    """

    name: str
    mark: str = ""
    short: str = ""
    digits: int | None = None


@dataclass(frozen=True)
class Row:
    """A quantity with its unit, the digits it is known to and one cell a column."""

    label: str
    cells: tuple[Cell, ...] = ()
    unit: str = ""
    digits: int = 4

    @property
    def heading(self) -> str:
        """The label with the unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def texts(self, columns: Sequence[Column], published: Sequence[bool]) -> list[tuple[str, ...]]:
        """Its cells as printed: ours, or what was published, ours and their ratio."""
        printed: list[tuple[str, ...]] = []
        for one, column, has_published in zip(self.cells, columns, published, strict=True):
            digits = column.digits or self.digits
            there, here = (figure(value, digits=digits) for value in (one.published, one.here))
            printed.append((there, here, figure(one.ratio)) if has_published else (here,))
        return printed


@dataclass(frozen=True)
class ComparisonTable:
    """Rows of quantities, columns of protections."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""

    def columns_from(self, start: int, stop: int) -> ComparisonTable:
        """All rows with some of the columns."""
        rows = tuple(replace(row, cells=row.cells[start:stop]) for row in self.rows)
        return replace(self, columns=self.columns[start:stop], rows=rows)

    @property
    def published_columns(self) -> list[bool]:
        """Of each column, whether any cell has a published value to stand beside ours."""
        return [
            any(row.cells[place].published is not None for row in self.rows)
            for place in range(len(self.columns))
        ]


def cell(read: Callable[..., float], *arguments: Any, published: float | None = None) -> Cell:
    """Read our side of a cell with ``read(*arguments)``; a run that is missing leaves it empty."""
    try:
        return Cell(read(*arguments), published)
    except NotRunError:
        return Cell(None, published)


def filled(
    title: str,
    columns: Mapping[AColumn, Column | str],
    rows: Mapping[ARow, Row | str],
    read: Callable[[ARow, AColumn], float],
    *,
    published: Callable[[ARow, AColumn], float | None] = lambda _row, _column: None,
    digits: int = 4,
    note: str = "",
) -> ComparisonTable:
    """A table of what ``read`` gives of each row and column, beside what was published.

    Rows and columns map what ``read`` takes to how it is shown; ``digits`` are those of rows that are words.
    """
    shown = {one: Row(row, digits=digits) if isinstance(row, str) else row for one, row in rows.items()}
    return ComparisonTable(
        title,
        tuple(Column(one) if isinstance(one, str) else one for one in columns.values()),
        tuple(
            replace(row, cells=tuple(cell(read, one, at, published=published(one, at)) for at in columns))
            for one, row in shown.items()
        ),
        note,
    )
