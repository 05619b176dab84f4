"""Completion times as keys of a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from lossylink.backends.live.short_flows import QUANTILES


def completion_times(times_us: Sequence[float]) -> dict[str, float | int]:
    """Return what every row with completion times has of them, from microseconds of at least one flow."""
    values = numpy.asarray(times_us)
    return {
        "trials": int(values.size),
        "fct_us_min": float(values.min()),
        "fct_us_mean": float(values.mean()),
        **{f"fct_us_{name}": float(numpy.percentile(values, at)) for name, at in QUANTILES.items()},
        "fct_us_max": float(values.max()),
        "fct_us_std": float(values.std(ddof=1)) if values.size > 1 else 0.0,
    }
