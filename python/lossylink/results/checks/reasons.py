"""Why checks failed, a line each: what stands below a table of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Labels of rows that a line names.
_NAMED = 3


def reasons(rows: Iterable[Mapping[str, Any]], places: Sequence[str] = ()) -> list[str]:
    """Return a line for each check that failed: of which rows, what was found and what to change.

    Rows for which a check says other figures share the line of the first of them.

    Parameters
    ----------
    rows
        Result rows; one without `checks` has none that failed.
    places
        Keys that say what a row is of, beside its protection: those of a sweep's grid.

    Examples
    --------
    >>> check = {"passed": False, "message": "MSS 60 B instead of 1460 B: the MTU of 100 caps it"}
    >>> reasons([{"protection": name, "checks": {"mss": check}} for name in ("none", "lg")])
    ['check mss failed (none, lg): MSS 60 B instead of 1460 B: the MTU of 100 caps it']
    """
    failed: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        for name, verdict in (row.get("checks") or {}).items():
            if verdict is not None and verdict["passed"] is False:
                failed.setdefault(name, []).append((_label(row, places), verdict["message"]))
    return [_line(name, found) for name, found in failed.items()]


def _label(row: Mapping[str, Any], places: Sequence[str]) -> str:
    keys = [key for key in places if key != "protection"]
    words = (str(row.get("protection", "")), *(f"{key}={row.get(key)}" for key in keys))
    return " ".join(word for word in words if word)


def _line(name: str, found: Sequence[tuple[str, str]]) -> str:
    labels = list(dict.fromkeys(label for label, _ in found if label))
    more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    of = f" ({', '.join(labels[:_NAMED])}{more})" if labels else ""
    messages = list(dict.fromkeys(message for _, message in found))
    others = "; figures of the first row" if len(messages) > 1 else ""
    return f"check {name} failed{of}: {messages[0]}{others}"
