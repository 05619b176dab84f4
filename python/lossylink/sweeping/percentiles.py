"""Intervals of a point's percentiles: its row has them, since the table of its flows is seldom kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from lossylink.experiments import experiment_named
from lossylink.percentiles import has_percentile, percentile_of

if TYPE_CHECKING:
    import polars

    from lossylink.results import Run

PERCENTS: Final = (50.0, 99.0, 99.9)
"""Percentiles that get an interval: those that figures show."""


def rows_of(run: Run) -> list[dict[str, Any]]:
    """Return the rows of a point, with a key ``..._ci95`` for each percentile of its flows in `PERCENTS`."""
    rows = run.summary()["rows"]
    trials = run.tables.get("trials")
    if trials is None:
        return list(rows)
    block = experiment_named(run.experiment).block_trials
    parts = trials.partition_by("protection", as_dict=True)
    return [
        {**row, **dict(_intervals(row, parts[row["protection"],], block))}
        if (row["protection"],) in parts
        else row
        for row in rows
    ]


def _intervals(
    row: Mapping[str, Any], trials: polars.DataFrame, block: int
) -> Iterator[tuple[str, tuple[float, float | None]]]:
    from lossylink.statistics import percentile_interval  # numpy and scipy: only for this

    for key, value in row.items():
        of = percentile_of(key)
        if of is None or value is None or of[1] not in PERCENTS or of[0] not in trials.columns:
            continue
        values = trials[of[0]].drop_nulls().to_numpy()
        if has_percentile(len(values), of[1]):
            found = percentile_interval(values, of[1], block=block)
            yield f"{key}_ci95", (found.low, found.high if math.isfinite(found.high) else None)
