"""A published table beside ours: value, published value and their ratio, cell by cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.quantity import figure


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
    cells: tuple[Cell, ...]
    unit: str = ""
    digits: int = 4

    def text(self, value: float | None, column: Column) -> str:
        """A value of this row as printed in a column."""
        return figure(value, digits=column.digits or self.digits)


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
    def has_published(self) -> bool:
        """Whether any cell has a published value to stand beside ours."""
        return any(cell.published is not None for row in self.rows for cell in row.cells)


def cell(read: Callable[..., float], *arguments: Any, published: float | None = None) -> Cell:
    """Read our side of a cell with ``read(*arguments)``; a run that is missing leaves it empty."""
    try:
        return Cell(read(*arguments), published)
    except NotRunError:
        return Cell(None, published)
