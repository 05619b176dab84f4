"""Completion times as keys of a row."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lossylink.statistics.estimates import describe
from lossylink.statistics.percentiles import PERCENTILES


def completion_times(times_us: Sequence[float]) -> dict[str, float | int | None]:
    """Return what every row with completion times has of them.

    Parameters
    ----------
    times_us
        Of at least one flow, in microseconds; infinite for one that never ended, which is slower than all
        that did. A figure that falls among such flows is nothing.

    Examples
    --------
    >>> row = completion_times([61.0, 62.0, math.inf])
    >>> [row[key] for key in ("trials", "fct_us_min", "fct_us_p50", "fct_us_p99", "fct_us_max")]
    [2, 61.0, 62.0, None, None]
    """
    summary = describe(times_us)
    figures = ("min", "mean", *PERCENTILES, "max", "std")
    return {
        "trials": sum(map(math.isfinite, times_us)),
        **{f"fct_us_{key}": summary[key] if math.isfinite(summary[key]) else None for key in figures},
    }
