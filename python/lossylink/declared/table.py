"""Tables of a run: columns as a backend left them, and a frame of them when somebody asks for one."""

from __future__ import annotations

import io
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from lossylink import _native

if TYPE_CHECKING:
    import polars

#: The column that says which part a row is of.
LABEL = "protection"


class Table(Struct, frozen=True):
    """A part for each protection, under the label that the user gave it.

    The simulator's columns stay where it left them: of most runs nobody wants a frame, and polars takes
    longer to import than a short run lasts.
    """

    parts: tuple[tuple[str, _native.Columns | polars.DataFrame], ...]

    @classmethod
    def of(cls, label: str, columns: _native.Columns | polars.DataFrame) -> Self:
        """Return the table of one protection."""
        return cls(((label, columns),))

    @classmethod
    def stacked(cls, tables: Iterable[Table]) -> Self:
        """Return the table with the parts of all these, one under the other."""
        return cls(tuple(part for table in tables for part in table.parts))

    @property
    def columns(self) -> list[str]:
        """The names of the columns, that of the label first."""
        return list(dict.fromkeys([LABEL, *(name for _, part in self.parts for name in _names(part))]))

    def frame(self) -> polars.DataFrame:
        """Return the table as a frame; a column that a part lacks is null there."""
        import polars

        frames = [
            frame.with_columns(polars.lit(label).alias(LABEL)).select(LABEL, *frame.columns)
            for label, frame in ((label, _frame(part)) for label, part in self.parts)
        ]
        return polars.concat(frames, how="diagonal")

    def values(self, label: str, column: str) -> Sequence[float] | None:
        """Return a column of one part, without what is missing; nothing if there is no such column."""
        part = next((part for of, part in self.parts if of == label), None)
        if part is None or column not in _names(part):
            return None
        if isinstance(part, _native.Columns):
            return _numbers(part[column])
        found: list[float] = part[column].drop_nulls().to_list()
        return found

    def write(self, path: Path, facts: Mapping[str, str]) -> None:
        """Write the table as a Parquet file with these facts beside the data.

        Raises
        ------
        OSError
            The file cannot be written.
        """
        parts = [(label, part) for label, part in self.parts if isinstance(part, _native.Columns)]
        if len(parts) == len(self.parts):
            _native.write_parquet(path, parts, list(facts.items()))
        else:
            write_frame(self.frame(), path, facts)


def write_frame(frame: polars.DataFrame, path: Path, facts: Mapping[str, str]) -> None:
    """Write a frame as a Parquet file with these facts beside the data.

    Parquet has no structure without members. Such a column, of rows without a check, becomes nulls.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    import polars

    empty = [name for name, kind in frame.schema.items() if kind == polars.Struct([])]
    content = io.BytesIO()
    frame.with_columns(polars.lit(None).alias(name) for name in empty).write_parquet(
        content, metadata=dict(facts)
    )
    # By Python: of a full disk polars says now this, now that, and never which error it was.
    path.write_bytes(content.getbuffer())


def _names(part: _native.Columns | polars.DataFrame) -> list[str]:
    return part.names if isinstance(part, _native.Columns) else part.columns


def _frame(part: _native.Columns | polars.DataFrame) -> polars.DataFrame:
    if not isinstance(part, _native.Columns):
        return part
    import polars

    return polars.DataFrame(
        {name: polars.Series(_numbers(part[name]), dtype=polars.Float64) for name in part.names}
    )


def _numbers(buffer: bytes) -> array[float]:
    """Read little-endian float64; numpy would cost 16 MB of memory for this alone."""
    numbers = array("d")
    numbers.frombytes(buffer)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
