"""Intervals of a point's percentiles: its row has them, since the table of its flows is seldom kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import polars

from lossylink.declared.experiments import experiment_named
from lossylink.running.run import Run
from lossylink.statistics.percentiles import has_percentile, percentile_of

Interval: TypeAlias = tuple[float | None, float | None]
"""Both ends; one is missing where the sample does not reach it, or where flows never ended."""

PERCENTS: Final = (50.0, 99.0, 99.9)
"""Percentiles that get an interval: those that figures show."""


def intervals_of(run: Run) -> list[dict[str, Interval]]:
    """Return what each row of a point lacks: a key ``..._ci95`` for each percentile in `PERCENTS`."""
    trials = run.tables.get("trials")
    if trials is None:
        return []
    block = experiment_named(run.experiment).block_trials
    parts = {str(key[0]): part for key, part in trials.partition_by("protection", as_dict=True).items()}
    empty = trials.clear()
    return [dict(_intervals(row, parts.get(row["protection"], empty), block)) for row in run.records]


def _intervals(
    row: Mapping[str, Any], trials: polars.DataFrame, block: int
) -> Iterator[tuple[str, Interval]]:
    from lossylink.statistics.estimates import percentile_interval  # numpy and scipy: only for this

    for key in row:
        of = percentile_of(key)
        if of is None or of[1] not in PERCENTS or of[0] not in trials.columns:
            continue
        values = trials[of[0]].drop_nulls().to_numpy()
        if has_percentile(len(values), of[1]):
            found = percentile_interval(values, of[1], block=block)
            low, high = (end if math.isfinite(end) else None for end in (found.low, found.high))
            yield f"{key}_ci95", (low, high)
