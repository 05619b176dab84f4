"""The table of completion times that the TCP and RDMA experiments share, published columns beside ours."""

from __future__ import annotations

from collections.abc import Mapping

from lossylink._package.published import Published, by_protection
from lossylink.charts.palette import name_of
from lossylink.reproduce.framework.comparison import ComparisonTable
from lossylink.reproduce.framework.judging import Edge, between, bounded
from lossylink.reproduce.framework.model import Basis, Claim, Finished
from lossylink.reproduce.framework.quantity import figure
from lossylink.reproduce.shared.measures import Source, completion_percentile
from lossylink.reproduce.shared.tables import samples_table

STATISTICS = {
    "min": "minimum",
    "mean": "mean",
    "p50": "50 %",
    "p90": "90 %",
    "p95": "95 %",
    "p99": "99 %",
    "p99_9": "99.9 %",
    "p99_99": "99.99 %",
    "p99_999": "99.999 %",
    "max": "maximum",
    "std": "deviation",
}


def completion_table(
    finished: Finished,
    samples: Mapping[str, Source],
    reference: Published | None,
    *,
    title: str,
    note: str = "",
) -> ComparisonTable:
    """One row a statistic, one column a sample; samples that were never published stand alone."""

    def published(row: str, name: str) -> float | None:
        if reference is None or name.replace("-", "_") not in reference["columns"]:
            return None
        key = row.removeprefix("fct_us_")
        return float(reference["trials"]) if key == "trials" else by_protection(reference, key)[name]

    rows = {**{f"fct_us_{key}": label for key, label in STATISTICS.items()}, "trials": "flows"}
    return samples_table(finished, title, samples, rows, published=published, note=note)


COLUMN_SHARE = 0.15
"""How far a percentile may lie from the published one, either way. Chosen after a look at the results."""
COLUMN_PERCENTILES = {"p50": 50.0, "p99": 99.0, "p99_9": 99.9}


def column_claims(
    table: Published,
    samples: Mapping[str, Source],
    source: str,
    *,
    shapes: tuple[str, ...],
    edges: Mapping[str, Edge] | None = None,
    calibrated: Mapping[tuple[str, str], tuple[str, ...]] | None = None,
) -> tuple[Claim, ...]:
    """Every published column with loss, at three percentiles, with bounds on both sides.

    The medians rest on ``shapes``, values of the hosts that are assumed below the 99th percentile. ``edges``
    has, by protection, the edge at which the 99.9th percentile lies. ``calibrated`` has, by protection and
    key, the values of the hosts that were fitted to a figure.
    """

    def claim(name: str, key: str) -> Claim:
        percent, published = COLUMN_PERCENTILES[key], by_protection(table, key)[name]
        within = f"within {COLUMN_SHARE:.0%} of {figure(published)} us"
        judge = bounded(
            lambda finished: completion_percentile(finished, samples[name], percent),
            between((1 - COLUMN_SHARE) * published, (1 + COLUMN_SHARE) * published),
            published=published,
            unit="us",
            edge=(edges or {}).get(name) if percent == 99.9 else None,
        )
        fitted = (calibrated or {}).get((name, key), ())
        basis, rests_on = Basis.CALIBRATED if fitted else Basis.PREDICTION, fitted
        if percent < 99.0:
            basis, rests_on = Basis.ASSUMED, shapes
        text = f"{name_of(name)}: the {percent:g}th percentile is {within}"
        return Claim(text, judge, basis, source, rests_on)

    return tuple(claim(name, key) for name in by_protection(table, "p50") for key in COLUMN_PERCENTILES)


def percentiles_by_protection(table: Published) -> dict[str, dict[str, float]]:
    """The published percentiles of each column."""
    columns = [name.replace("_", "-") for name in table["columns"]]
    keys = [key for key in table if key.startswith("p") and key[1].isdigit()]
    return {name: {key: by_protection(table, key)[name] for key in keys} for name in columns}
