"""How far the core goes: the largest number of an option that it takes, asked rather than repeated here."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from lossylink import _native


def most(value_with: Callable[[int], dict[str, Any]], *, from_number: int = 1) -> int:
    """Return the largest number whose value the core takes.

    Parameters
    ----------
    value_with
        Returns a protection's value with that number in it.
    from_number
        A number that the core surely takes.

    Examples
    --------
    >>> most(lambda k: {"family": "fec", "k": k, "h": 0})
    128
    """
    low, high = from_number, 2 * from_number
    while _is_taken(value_with(high)):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _is_taken(value_with(middle)) else (low, middle)
    return low


def _is_taken(value: dict[str, Any]) -> bool:
    try:
        _native.check_protection(json.dumps(value), False)
    except ValueError:
        return False
    return True
