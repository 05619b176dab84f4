"""What a claim, a table or a chart raises for a run that is not there: apart, for all need it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class NotRunError(Exception):
    """A claim or a table asks for a run that is not finished."""


def known(keys: Iterable[Key], read: Callable[[Key], Value]) -> dict[Key, Value]:
    """Read something of each key; keys whose run is missing are left out."""
    found = {}
    for key in keys:
        try:
            found[key] = read(key)
        except NotRunError:
            continue
    return found
