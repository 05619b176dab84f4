"""What ``mlxlink`` prints with ``-c`` or ``--rx_fec_histogram --show_histogram``, as text or with ``--json``.

The errors of lanes are wrong bits before the code ("raw"). Both commands say since when they count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lossylink.errors import UserError
from lossylink.measuring.line.gauges import Bin, Gauges, count_of, ratio_of

_HISTOGRAM, _COUNTERS = "Histogram of FEC Errors", "Physical Counters and BER Info"
_ENTRY: Final = re.compile(r"^\s*([^:]+?)\s*:\s*(.*?)\s*$")
_BIN: Final = re.compile(r"Bin\s*(\d+)")
_RANGE: Final = re.compile(r"\[(\d+)(?::(\d+))?\]")
#: mlxlink colours what it prints on a terminal.
_COLOUR: Final = re.compile(r"\x1b\[[\d;]*m")


def recognises(text: str) -> bool:
    """Whether a text is of ``mlxlink``."""
    return _HISTOGRAM in text or _COUNTERS in text


def read(text: str, name: str) -> dict[str, Gauges]:
    """Return the gauges of the one link that the tool was asked for.

    Raises
    ------
    UserError
        A count is no count, or the text has neither counters nor a histogram.
    """
    plain = _COLOUR.sub("", text)
    entries = dict(_from_json(plain, name) if plain.lstrip().startswith("{") else _from_text(plain))
    gauges = Gauges(
        source="mlxlink",
        histogram=tuple(sorted(_bins(entries))),
        lane_bits=_lanes(entries.get("Raw Physical Errors Per Lane", ())),
        pre_fec_ber=ratio_of(" ".join(entries.get("Raw Physical BER", ("",)))),
        seconds=_seconds(entries.get("Time Since Last Clear [Min]", ())),
    )
    if gauges.is_empty:
        raise UserError(
            f"{name}: mlxlink tells no errors here; add -c, or --rx_fec_histogram --show_histogram"
        )
    return {"": gauges}


_Entry = tuple[str, tuple[str, ...]]


def _from_text(text: str) -> Iterator[_Entry]:
    for line in text.splitlines():
        if match := _ENTRY.match(line):
            key, value = match[1], match[2]
            yield key, tuple(value.split(",") if "Per Lane" in key else value.split())


def _from_json(text: str, name: str) -> Iterator[_Entry]:
    try:
        sections: Mapping[str, Any] = json.loads(text)["result"]["output"]
    except (ValueError, TypeError, KeyError):
        raise UserError(f"{name}: not what mlxlink --json prints; is it whole?") from None
    for section in (_COUNTERS, _HISTOGRAM):
        for key, value in (sections.get(section) or {}).items():
            told = value.get("values", ()) if isinstance(value, dict) else value
            yield key, tuple(map(str, told)) if isinstance(told, list) else (str(told),)


def _bins(entries: Mapping[str, tuple[str, ...]]) -> Iterator[Bin]:
    for key, values in entries.items():
        match = _BIN.fullmatch(key)
        if match is None:
            continue
        span = _RANGE.fullmatch(values[0]) if values else None
        if span is None:
            raise UserError(f"{key} has no range such as [1:3] beside its count")
        yield Bin(int(span[1]), int(span[2] or span[1]), count_of("".join(values[1:]), where=key))


def _lanes(values: tuple[str, ...]) -> tuple[int, ...]:
    told = [value for value in values if value.strip() not in {"", "N/A"}]
    return tuple(count_of(value, where="Raw Physical Errors Per Lane") for value in told)


def _seconds(values: tuple[str, ...]) -> float | None:
    try:
        return 60.0 * float(values[0])
    except (IndexError, ValueError):
        return None
