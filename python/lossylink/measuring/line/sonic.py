"""What SONiC prints: ``show interfaces counters fec-stats`` (``portstat -f``) and ``fec-histogram PORT``.

The histogram has the bins 0 to 15 for every code; bins that a code does not fill are 0. Its text names no
interface. The table of ``fec-stats`` has a row for each.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from lossylink.errors import UserError
from lossylink.measuring.line.gauges import Bin, Gauges, count_of, ratio_of

_BIN: Final = re.compile(r"^\s*BIN(\d+)\s+(\S+)\s*$")
_COLUMNS: Final = {"FEC_CORR": "corrected", "FEC_UNCORR": "uncorrectable", "FEC_SYMBOL_ERR": "symbol_errors"}
_RATIO: Final = "FEC_PRE_BER"
_NONE: Final = "N/A"
#: A port is up, down or disabled.
_STATES: Final = frozenset({"U", "D", "X", _NONE})


def recognises(text: str) -> bool:
    """Whether a text is of SONiC."""
    return "FEC_UNCORR" in text or "Symbol Errors Per Codeword" in text


def read(text: str, name: str) -> dict[str, Gauges]:
    """Return the gauges of each interface; a histogram alone has no name.

    Raises
    ------
    UserError
        A count is no count, or there is neither a row nor a bin.
    """
    lines = text.splitlines()
    bins = [
        Bin(int(match[1]), int(match[1]), count_of(match[2], where=f"BIN{match[1]}"))
        for match in map(_BIN.match, lines)
        if match is not None
    ]
    rows = _rows(lines)
    if not bins and not rows:
        raise UserError(f"{name}: neither a row of fec-stats nor a bin of fec-histogram")
    if not bins:
        return rows
    if len(rows) > 1:
        raise UserError(f"{name}: a histogram and the rows of {len(rows)} interfaces; leave one row")
    interface, row = next(iter(rows.items()), ("", Gauges(source="SONiC")))
    return {interface: replace(row, histogram=tuple(sorted(bins)))}


def _rows(lines: list[str]) -> dict[str, Gauges]:
    """Read the table, whose columns differ between releases; a blank is in the last one's name alone."""
    at = next((number for number, line in enumerate(lines) if "FEC_UNCORR" in line), None)
    if at is None:
        return {}
    headers = lines[at].split()
    rows = {}
    for line in lines[at + 1 :]:
        cells = line.split()
        if len(cells) > 2 and cells[1] in _STATES:
            rows[cells[0]] = _row(dict(zip(headers, cells, strict=False)), cells[0])
    return rows


def _row(cells: dict[str, str], interface: str) -> Gauges:
    counted: dict[str, Any] = {
        field: count_of(cells[column], where=f"{column} of {interface}")
        for column, field in _COLUMNS.items()
        if cells.get(column, _NONE) != _NONE
    }
    return Gauges(source="SONiC", pre_fec_ber=ratio_of(cells.get(_RATIO, "")), **counted)
