"""The table of completion times that the TCP and RDMA experiments share, published columns beside ours."""

from __future__ import annotations

from collections.abc import Mapping

from lossylink.charts.palette import name_of
from lossylink.reproduce.framework.comparison import Column, ComparisonTable, Row, cell
from lossylink.reproduce.framework.judging import Edge, between, bounded
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Published
from lossylink.reproduce.framework.published import by_protection
from lossylink.reproduce.framework.quantity import figure
from lossylink.reproduce.shared.measures import Source, completion_percentile

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
    marks: Mapping[str, str],
    note: str = "",
) -> ComparisonTable:
    """One row a statistic, one column a sample; samples that were never published stand alone."""
    columns = tuple(Column(name_of(name), marks.get(name, "")) for name in samples)
    rows = []
    for key, label in STATISTICS.items():
        published = by_protection(reference, key) if reference is not None and key in reference else {}
        cells = tuple(
            cell(finished.number, *source, f"fct_us_{key}", published=published.get(name))
            for name, source in samples.items()
        )
        rows.append(Row(label, cells, "", 4))
    trials = tuple(
        cell(finished.number, *source, "trials", published=_published_trials(reference, name))
        for name, source in samples.items()
    )
    return ComparisonTable(title, columns, (*rows, Row("flows", trials, "", 4)), note)


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
    known, fitted = edges or {}, calibrated or {}
    return tuple(
        _column_claim(
            name,
            samples[name],
            key,
            by_protection(table, key)[name],
            (source, shapes),
            known.get(name),
            fitted.get((name, key), ()),
        )
        for name in by_protection(table, "p50")
        for key in COLUMN_PERCENTILES
    )


def _column_claim(
    name: str,
    sample: Source,
    key: str,
    published: float,
    said: tuple[str, tuple[str, ...]],
    edge: Edge | None,
    fitted: tuple[str, ...],
) -> Claim:
    percent, (source, shapes) = COLUMN_PERCENTILES[key], said
    is_assumed, within = percent < 99.0, f"within {COLUMN_SHARE:.0%} of {figure(published)} us"
    measured = Basis.CALIBRATED if fitted else Basis.PREDICTION
    return Claim(
        f"{name_of(name)}: the {percent:g}th percentile is {within}",
        bounded(
            completion_percentile(sample, percent),
            between((1 - COLUMN_SHARE) * published, (1 + COLUMN_SHARE) * published),
            published=published,
            unit="us",
            edge=edge if percent == 99.9 else None,
        ),
        Basis.ASSUMED if is_assumed else measured,
        source,
        shapes if is_assumed else fitted,
    )


def _published_trials(reference: Published | None, name: str) -> float | None:
    if reference is None or name.replace("-", "_") not in reference.get("columns", ()):
        return None
    return float(reference["trials"])


def percentiles_by_protection(table: Published) -> dict[str, dict[str, float]]:
    """The published percentiles of each column."""
    columns = [name.replace("_", "-") for name in table["columns"]]
    keys = [key for key in table if key.startswith("p") and key[1].isdigit()]
    return {name: {key: by_protection(table, key)[name] for key in keys} for name in columns}
