"""The published figures, read from ``reference/published.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from lossylink._package.resources import PUBLISHED

Published = Mapping[str, Any]
"""The parsed ``reference/published.toml``."""


def load() -> Published:
    """Read the published figures that come with the package."""
    return tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))


def lookup(published: Published, *keys: str) -> Any | None:
    """Follow keys into the published figures; none where nothing was published."""
    value: Any = published
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def by_protection(table: Published, key: str) -> dict[str, float]:
    """One line of a published table by protection, in our spelling (``lg-nb`` where it says ``lg_nb``).

    Examples
    --------
    >>> by_protection({"columns": ["none", "lg_nb"], "p50": [91.6, 84.8]}, "p50")
    {'none': 91.6, 'lg-nb': 84.8}
    """
    names: Sequence[str] = table["columns"]
    return {name.replace("_", "-"): float(value) for name, value in zip(names, table[key], strict=True)}
