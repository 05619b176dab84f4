"""Sentences about runs that several experiments share: neutral words, so that they are true of any figure."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Insight
from lossylink.reproduce.framework.quantity import figure
from lossylink.reproduce.shared.measures import (
    Source,
    completion_percentile,
    completion_ratio,
    completion_times,
)
from lossylink.statistics.estimates import Estimate

PERCENT = 99.9


def tail_insight(finished: Finished, samples: Mapping[str, Source], flows: str, *, rank: int) -> Insight:
    """How many times shorter or longer LinkGuardian makes the 99.9th percentile of ``flows``.

    Raises
    ------
    NotRunError
        A sample is missing, or too small to bound the percentile.
    """
    slow, fast = (completion_percentile(finished, samples[name], PERCENT).value for name in ("none", "lg"))
    counts = [completion_times(finished, samples[name]).size for name in ("none", "lg")]
    ratio = completion_ratio(finished, samples["none"], samples["lg"], PERCENT)
    if not (ratio.low > 0 and isfinite(ratio.high)):
        raise NotRunError(f"{min(counts)} flows do not bound their {PERCENT:g}th percentile")
    return Insight(
        rank,
        times(ratio),
        f"One in a thousand {flows} takes {figure(slow)} us or more without protection, and "
        f"{figure(fast)} us with LinkGuardian.",
        f"Ratio {figure(ratio.value)}, 95 % interval {figure(ratio.low)} to {figure(ratio.high)}; "
        f"{_flows(*counts)}.",
    )


def _flows(bare: int, protected: int) -> str:
    """How many flows each of two samples has."""
    if bare == protected:
        return f"{bare:,} flows each"
    return f"{bare:,} flows without protection and {protected:,} with it"


def times(ratio: Estimate) -> str:
    """How many times shorter, or longer where the ratio of slow to fast is below one.

    Examples
    --------
    >>> times(Estimate.exact(31.24)), times(Estimate.exact(0.5))
    ('31.2x shorter', '2.00x longer')
    """
    return f"{figure(ratio.value)}x shorter" if ratio.value >= 1 else f"{figure(1 / ratio.value)}x longer"
