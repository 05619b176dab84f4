"""Gauges from CSV: a row for each bin, or a column for each gauge and a row for each reading.

A file of bins has the headers ``bin`` and ``count`` (or ``codewords``); a bin is a number, or a range such
as ``4-7``. A file of readings has a column ``time_s`` where there is more than one row, any of the columns in
`COLUMNS`, and ``bin_0``, ``bin_1`` and so on. A column of another name is left aside.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from lossylink.errors import UserError
from lossylink.measuring.line.gauges import Bin, Gauges, count_of, ratio_of

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "corrected": ("corrected_codewords", "corrected", "fec_corrected_blocks"),
    "uncorrectable": ("uncorrectable_codewords", "uncorrectable", "fec_uncorrectable_blocks"),
    "symbol_errors": ("symbol_errors",),
    "corrected_bits": ("corrected_bits", "wrong_bits"),
    "bits": ("bits", "received_bits"),
    "codewords": ("codewords", "fec_blocks"),
    "pre_fec_ber": ("pre_fec_ber",),
}
"""Gauges, each with the names that a column of it may have."""

TIME: Final = ("time_s", "seconds", "time")
_BIN_HEADERS: Final = ("bin", "symbol_errors")
_COUNT_HEADERS: Final = ("count", "codewords")
_BIN_COLUMN: Final = re.compile(r"(?:bin|s)_?(\d+)")
_RANGE: Final = re.compile(r"(\d+)(?:\s*[-:]\s*(\d+))?")


class Timed(NamedTuple):
    """A reading, and when it was made."""

    time_s: float | None
    gauges: Gauges


def recognises(text: str) -> bool:
    """Whether the first line names columns that this reader knows."""
    headers, _ = _headers(_without_comments(text))
    return _are_bins(headers) or any(_gauge(header) is not None for header in headers)


def read(text: str, name: str) -> dict[str, Gauges]:
    """Return what a file of bins says, or the only row of a file of readings.

    Raises
    ------
    UserError
        A cell is no count, or there are many rows: they are readings over time.
    """
    readings = read_all(text, name)
    if len(readings) > 1:
        raise UserError(
            f"{name} has {len(readings)} readings; --fec-history takes them, and here is place for one"
        )
    return {"": readings[0].gauges}


def read_all(text: str, name: str) -> list[Timed]:
    """Return every reading of a file, in its order.

    Raises
    ------
    UserError
        A cell is no count, or there is no row.
    """
    plain = _without_comments(text)
    headers, delimiter = _headers(plain)
    reader = csv.reader(io.StringIO(plain), delimiter=delimiter)
    rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)][1:]
    if not rows:
        raise UserError(f"{name} has headers and no counts below them")
    if _are_bins(headers):
        return [Timed(None, _of_bins(headers, rows, name))]
    return [_of_row(headers, row, f"{name}:{line}") for line, row in rows]


def _headers(plain: str) -> tuple[list[str], str]:
    """Return the names of the columns, and what stands between two cells."""
    first = next((line for line in plain.splitlines() if line.strip()), "")
    delimiter = max(",;\t", key=first.count)
    return [cell.strip().lower().replace(" ", "_") for cell in first.split(delimiter)], delimiter


def _without_comments(text: str) -> str:
    lines = text.removeprefix("\ufeff").splitlines()
    return "\n".join("" if line.lstrip().startswith("#") else line for line in lines)


def _are_bins(headers: Sequence[str]) -> bool:
    return bool(set(headers) & set(_BIN_HEADERS)) and bool(set(headers) & set(_COUNT_HEADERS))


def _gauge(header: str) -> str | None:
    return next((field for field, names in COLUMNS.items() if header in names), None) or (
        "bin" if _BIN_COLUMN.fullmatch(header) else None
    )


def _of_bins(headers: Sequence[str], rows: Sequence[tuple[int, list[str]]], name: str) -> Gauges:
    low = next(at for at, header in enumerate(headers) if header in _BIN_HEADERS)
    count = next(at for at, header in enumerate(headers) if header in _COUNT_HEADERS)
    bins: dict[tuple[int, int], Bin] = {}
    for line, row in rows:
        cells = [*row, *[""] * len(headers)]
        match = _RANGE.fullmatch(cells[low].strip())
        if match is None:
            raise UserError(f"{name}:{line}: '{cells[low].strip()}' is no bin; write 3, or 4-7")
        span = (int(match[1]), int(match[2] or match[1]))
        if span in bins:
            raise UserError(f"{name}:{line}: {Bin(*span, 0).label} is there twice; leave one")
        bins[span] = Bin(*span, count_of(cells[count], where=f"{name}:{line}: the count"))
    return Gauges(source="CSV", histogram=tuple(sorted(bins.values())))


def _of_row(headers: Sequence[str], row: Sequence[str], where: str) -> Timed:
    counted: dict[str, Any] = {}
    bins = []
    time_s = None
    for header, cell in zip(headers, row, strict=False):
        field = _gauge(header)
        if header in TIME and cell.strip():
            time_s = _time(cell, f"{where}, column '{header}'")
        elif field == "bin" and (match := _BIN_COLUMN.fullmatch(header)):
            at = int(match[1])
            bins.append(Bin(at, at, count_of(cell, where=f"{where}, column '{header}'")))
        elif field == "pre_fec_ber":
            counted[field] = ratio_of(cell)
        elif field is not None:
            counted[field] = count_of(cell, where=f"{where}, column '{header}'")
    return Timed(time_s, Gauges(source="CSV", histogram=tuple(sorted(bins)), **counted))


def _time(cell: str, where: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise UserError(f"{where}: '{cell.strip()}' is no time in seconds") from None
