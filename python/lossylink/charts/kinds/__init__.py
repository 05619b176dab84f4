"""Kinds of figures, found by their files: each module has a ``KIND`` that makes a sheet of samples."""

from __future__ import annotations

import sys
from functools import cache

from lossylink._package.discovery import modules_in, names_in
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.errors import unknown

__all__ = ["CannotDrawError", "Kind", "kind_named", "kinds", "names"]


@cache
def kinds() -> dict[str, Kind]:
    """Return every kind by its name, in their order.

    Examples
    --------
    >>> kinds()["ccdf"].summary
    'distribution of flow completion times'
    """
    found: list[Kind] = [module.KIND for module in modules_in(sys.modules[__name__])]
    return {kind.name: kind for kind in sorted(found, key=lambda kind: kind.place)}


def names() -> list[str]:
    """Return the names of all kinds, without loading any."""
    return [name.replace("_", "-") for name in names_in(sys.modules[__name__])]


def kind_named(name: str) -> Kind:
    """Return a kind.

    Raises
    ------
    UserError
        There is none of this name; the message names the nearest.
    """
    if name not in kinds():
        raise unknown("kind of figure", name, kinds())
    return kinds()[name]
