"""What the stress test draws: buffers over time and by level, and where the capacity of the link went."""

from __future__ import annotations

from collections.abc import Sequence

import polars

from lossylink.charts.chart import Chart, Sheet
from lossylink.charts.kinds.buffers import buffer_charts
from lossylink.charts.kinds.link_speed import budget_chart, budget_label
from lossylink.charts.link_budget import LinkBudget
from lossylink.charts.palette import name_of, slots_of
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished


def published_buffers(finished: Finished, job: str, protections: Sequence[str]) -> tuple[Chart, ...]:
    """Occupancy of the Tx and Rx buffers over time, and the share of samples at or above each level."""
    try:
        series = finished.run(job).tables["series"]
    except (NotRunError, KeyError):
        return ()
    slots = slots_of(tuple(protections))
    parts = {name: series.filter(polars.col("protection") == name) for name in protections}
    return buffer_charts(
        {(name_of(name), slots[name]): part for name, part in parts.items()}, identifier="stress"
    )


def stress_sheets(charts: Sequence[Chart], budgets: Sequence[LinkBudget]) -> tuple[Sheet, ...]:
    """Buffers side by side, and where the capacity of every job went."""
    speed = [(budget_label(budget), budget) for budget in budgets]
    return (
        *((Sheet("stress-buffers", tuple(charts), columns=2),) if charts else ()),
        *(
            (Sheet("stress-link-speed", (budget_chart(speed, identifier="stress-link-speed"),)),)
            if speed
            else ()
        ),
    )
