"""Which percentiles a table states, and of how many values: no arithmetic, so that it loads at once.

A trial that never ended is slower than every trial that did, and a packet that was lost later than every one
that came. A table of trials has infinite values there. A percentile of a row that falls among them is empty,
and stands as `NEVER` in tables for people.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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

#: What stands for a figure that falls among trials that never ended.
NEVER = "never"
#: How keys of times begin, and the counts in a row of what never ended or never came.
_LEFT_OUT = {
    "fct_us_": ("flows_unfinished",),
    "slowdown_": ("flows_unfinished",),
    "latency_us_p": ("residual_lost_packets", "queue_drops_data", "meter_drops"),
}


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


def tried(row: Mapping[str, Any]) -> int | None:
    """Return how many trials a row is of, also those that never ended; nothing if it is of none.

    Examples
    --------
    >>> tried({"trials": 97, "flows_unfinished": 3}), tried({"packets_sent": 5})
    (100, None)
    """
    return None if row.get("trials") is None else int(row["trials"] + (row.get("flows_unfinished") or 0))


def is_never(key: str, row: Mapping[str, Any]) -> bool:
    """Return whether a figure of a row is empty because it falls among what never ended or never came.

    Examples
    --------
    >>> row = {"fct_us_p50": 88.0, "fct_us_p99": None, "trials": 97, "flows_unfinished": 3}
    >>> [is_never(key, row) for key in ("fct_us_p50", "fct_us_p99", "loss_rate")]
    [False, True, False]

    A class of sizes without any flow has no figure:

    >>> is_never("slowdown_p99_to_10kb", row | {"flows_to_10kb": 0})
    False
    """
    counts = next((counts for start, counts in _LEFT_OUT.items() if key.startswith(start)), ())
    if not any(row.get(count) for count in counts) or row.get(key) is not None:
        return False
    of_class = [count for name, count in row.items() if name.startswith("flows_") and key.endswith(name[5:])]
    return key in row and all(of_class)
