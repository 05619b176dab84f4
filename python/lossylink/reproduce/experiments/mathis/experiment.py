"""The Mathis study: sixty Reno flows under random loss against MSS / (RTT sqrt(p)), with its six checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars

from lossylink.charts.chart import Chart
from lossylink.charts.kinds.mathis import mathis_charts
from lossylink.charts.mathis_curves import PublishedPoint
from lossylink.reproduce.experiments.mathis import trials
from lossylink.reproduce.framework.comparison import Column, ComparisonTable, filled
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import (
    Finished,
    Job,
    Published,
    PublishedExperiment,
    Scale,
)
from lossylink.reproduce.framework.quantity import power_text
from lossylink.reproduce.shared.declaring import declared
from lossylink.statistics.estimates import Estimate, percentile_interval

JOB = "60 trials"
LOSS_EVENTS = 300
"""Loss events a trial: a mean bandwidth is then known to about 6 %."""
LOSS_EVENTS_AT_LEAST = 60
"""The method asks for 30 expected losses, which a run that ends with its sixtieth has."""
LOSS_COUNT = 4
HOLDS_UP_TO = 1e-2
"""Loss ratio up to which the square-root law is claimed to hold."""
BREAKS_FROM = 5e-2
"""Loss ratio from which timeouts rule."""


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The published grid; a quick look draws one loss ratio a pair and waits for fewer losses."""
    settings = {
        "grid.loss_count": LOSS_COUNT if scale.divisor == 1 else 1,
        "grid.loss_events": scale.of(LOSS_EVENTS, at_least=LOSS_EVENTS_AT_LEAST),
    }
    return (Job(JOB, "mathis", ("none",), settings, 30.0 / scale.divisor), *trials.jobs(scale))


def _ratios(finished: Finished, low: float, high: float, key: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    rows = finished.run(JOB).rows
    if not {"loss_ratio", key} <= set(rows.columns):
        raise NotRunError(f"{JOB} gave no {key}")
    chosen = rows.filter(polars.col("loss_ratio").is_between(low, high))[key].drop_nulls()
    if chosen.is_empty():
        raise NotRunError(f"no trial drew a loss ratio from {low:g} to {high:g}")
    return chosen.to_numpy().astype(np.float64)


def median_ratio(finished: Finished, low: float, high: float) -> Estimate:
    """Median over trials of measured bandwidth to the law with sqrt(3/2)."""
    return percentile_interval(_ratios(finished, low, high, "ratio_sqrt32"), 50.0)


def least_ratio(finished: Finished) -> float:
    """The smallest ratio to the law with sqrt(3/2), up to `HOLDS_UP_TO`."""
    return float(_ratios(finished, 0.0, HOLDS_UP_TO, "ratio_sqrt32").min())


def greatest_ratio(finished: Finished) -> float:
    """The largest ratio to the law with sqrt(3/2), up to `HOLDS_UP_TO`."""
    return float(_ratios(finished, 0.0, HOLDS_UP_TO, "ratio_sqrt32").max())


def _range_text(low: float, high: float) -> str:
    if low == 0:
        return f"loss ratio up to {power_text(high)}"
    return f"loss ratio from {power_text(low)}" + (f" to {power_text(high)}" if high < 1 else "")


def slope(finished: Finished) -> Estimate:
    """Log-log slope of measured against modelled bandwidth where the law holds, with two standard errors."""
    rows = finished.run(JOB).rows.filter(polars.col("loss_ratio") <= HOLDS_UP_TO)
    if rows.height < 3:
        raise NotRunError("fewer than three trials where the law holds")
    model, measured = (np.log(rows[key].to_numpy().astype(float)) for key in ("model_mbps", "measured_mbps"))
    (steepness, _), covariance = np.polyfit(model, measured, 1, cov=True)
    reach = 2.0 * float(np.sqrt(covariance[0][0]))
    return Estimate(float(steepness), float(steepness) - reach, float(steepness) + reach)


def failed_checks(finished: Finished) -> float:
    """How many checks of method failed, of all trials."""
    rows = finished.run(JOB).rows.to_dicts()
    if not rows or "checks" not in rows[0]:
        raise NotRunError(f"{JOB} gave no checks")
    return float(sum(check["passed"] is False for row in rows for check in row["checks"].values()))


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """Medians of the ratio to each model, by range of loss."""
    ranges = ((0.0, 1e-3), (1e-3, HOLDS_UP_TO), (HOLDS_UP_TO, BREAKS_FROM), (BREAKS_FROM, 1.0))

    def read(span: tuple[float, float], key: str) -> float:
        if key == "trials":
            return float(_ratios(finished, *span, "ratio").size)
        return float(np.median(_ratios(finished, *span, key)))

    return (
        filled(
            "Measured bandwidth over the models, medians (ours)",
            {
                "ratio": Column("to MSS / (RTT sqrt(p))", short="C = 1"),
                "ratio_sqrt32": Column("to sqrt(3/2) times that", short="C = sqrt(3/2)"),
                "trials": Column("trials", digits=1),
            },
            {span: _range_text(*span) for span in ranges},
            read,
            digits=3,
        ),
    )


def _points(published: Published) -> tuple[PublishedPoint, ...]:
    """Trial 5, the one trial of which the text gives everything: as a percentage, and corrected."""
    naive, corrected = trials.points_mbps(published["mathis"]["issue_1"])
    return tuple(
        PublishedPoint(mss_bytes=1460, rtt_ms=trials.RTT_MS, loss_ratio=trials.LOSS_5, measured_mbps=measured)
        for measured in (naive, corrected)
    )


def charts(finished: Finished, published: Published) -> tuple[Chart, ...]:
    """Figures 3 and 4, and the published points in them."""
    try:
        return mathis_charts(finished.run(JOB).rows.to_dicts(), _points(published))
    except NotRunError:
        return ()


EXPERIMENT = PublishedExperiment(
    **declared("mathis", {**vars(trials), **globals()}), jobs=jobs, tables=tables, charts=charts
)
