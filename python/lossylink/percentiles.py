"""Which percentiles a table states, and of how many values: no arithmetic, so that it loads at once."""

from __future__ import annotations

PERCENTILES = {
    "p50": 50.0,
    "p90": 90.0,
    "p95": 95.0,
    "p99": 99.0,
    "p99_9": 99.9,
    "p99_99": 99.99,
    "p99_999": 99.999,
}
"""Percentiles of a flow-completion-time table, by the key that a row uses."""

#: A percentile is shown where at least so many values lie beyond it: fewer are single accidents.
LEAST_BEYOND = 3


def has_percentile(count: int, percent: float) -> bool:
    """Return whether a sample of ``count`` values is large enough to show a percentile of it.

    Examples
    --------
    >>> [count for count in (1000, 2000, 3000) if has_percentile(count, 99.9)]
    [3000]
    """
    return count * (1 - percent / 100) >= LEAST_BEYOND - 1e-9


def percentile_of(key: str) -> tuple[str, float] | None:
    """Return of which column a key of a row is a percentile, and which one; nothing if it is none.

    Examples
    --------
    >>> percentile_of("fct_us_p99_9"), percentile_of("fct_us_max")
    (('fct_us', 99.9), None)
    """
    for name, percent in PERCENTILES.items():
        if key.endswith(f"_{name}"):
            return key.removesuffix(f"_{name}"), percent
    return None
