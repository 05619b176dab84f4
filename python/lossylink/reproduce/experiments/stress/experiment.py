"""LinkGuardian's switch-to-switch stress test: effective loss, link speed and buffers at 100G and 1e-3.

Published for the generator on Tofino switches. The saturated source and the switch without recirculation are
ours: the generator's period hides what non-blocking protection costs, and recirculation what ordering needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars

from lossylink.charts.chart import Chart, Sheet
from lossylink.charts.kinds.buffers import buffer_charts
from lossylink.charts.kinds.link_speed import budget_chart, budget_label
from lossylink.charts.link_budget import LinkBudget, link_budget
from lossylink.charts.palette import name_of, slots_of
from lossylink.reproduce.experiments.stress import measures
from lossylink.reproduce.experiments.stress.measures import (
    PROTECTIONS,
    PUBLISHED_JOB,
    PUBLISHED_PACKETS,
    SATURATED_JOB,
    SPEED,
)
from lossylink.reproduce.framework.comparison import Column, ComparisonTable, Row, filled
from lossylink.reproduce.framework.missing import NotRunError, known
from lossylink.reproduce.framework.model import (
    Finished,
    Insight,
    Job,
    Published,
    PublishedExperiment,
    Scale,
)
from lossylink.reproduce.framework.quantity import figure
from lossylink.reproduce.shared.declaring import declared, published_at
from lossylink.reproduce.shared.measures import lost_after_protection
from lossylink.scenario.route import LINK_ROUTE
from lossylink.statistics.estimates import Estimate, poisson_interval, zero_events_upper_bound

OUR_PACKETS = 10_000_000
"""Frames of the variants without a published figure: 10 K losses fix a link speed to a thousandth."""

VARIANTS = {
    PUBLISHED_JOB: ("tofino1", "generator", PUBLISHED_PACKETS),
    SATURATED_JOB: ("tofino1", "saturated", OUR_PACKETS),
    "ideal, generator": ("ideal", "generator", OUR_PACKETS),
    "ideal, saturated": ("ideal", "saturated", OUR_PACKETS),
}


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The four variants, the published one first."""
    return tuple(
        Job(
            key,
            "stress",
            PROTECTIONS,
            {
                "switch.profile": profile,
                "traffic.source": source,
                "traffic.packets": scale.of(packets),
            },
            weight=packets / 4e6,  # seconds, at the floor of 4 M protected frames a second
        )
        for key, (profile, source, packets) in VARIANTS.items()
    )


def tables(finished: Finished, published: Published) -> tuple[ComparisonTable, ...]:
    """The published table, then our variants."""
    beside = filled(
        "Stress test at 100 Gb/s, loss 1e-3",
        {name: Column(name_of(name), "calibrated") for name in PROTECTIONS},
        _PUBLISHED_ROWS,
        lambda key, protection: finished.number(PUBLISHED_JOB, protection, key),
        published=partial(_published_figure, published),
        note="The delays of the tofino1 profile were fitted to these columns; loss rates were not. "
        "The published minimum of the Rx buffer is a reading of the Tx buffer's file.",
    )
    ours = filled(
        "Every variant (ours, not published)",
        _OUR_COLUMNS,
        {(job, name): f"{name_of(name)}, {job}" for job in VARIANTS for name in PROTECTIONS},
        lambda variant, key: finished.number(*variant, key),
        note="Timeouts are skips by ackNoTimeout, counted apart from frames that stay lost; retx is the time "
        "from seeing a loss to its first copy.",
    )
    return beside, ours


_PUBLISHED_ROWS = {
    "packets_sent": Row("frames sent", digits=2),
    "actual_loss_rate": Row("actual loss rate", digits=4),
    "effective_loss_rate": Row("effective loss rate", digits=3),
    SPEED: Row("effective link speed", unit="Gb/s", digits=4),
    "tx_buffer_kb_min": Row("Tx buffer, minimum", unit="KB", digits=3),
    "tx_buffer_kb_max": Row("Tx buffer, maximum", unit="KB", digits=3),
    "rx_buffer_kb_min": Row("Rx buffer, minimum", unit="KB", digits=3),
    "rx_buffer_kb_max": Row("Rx buffer, maximum", unit="KB", digits=3),
}
_OUR_COLUMNS = {
    SPEED: Column("link speed, Gb/s", digits=5),
    "effective_loss_rate": Column("effective loss", digits=3),
    "tx_buffer_kb_p50": Column("Tx median, KB", digits=3),
    "tx_buffer_kb_max": Column("Tx max, KB", digits=3),
    "rx_buffer_kb_max": Column("Rx max, KB", digits=3),
    "retx_delay_us_p50": Column("retx median, us", digits=3),
    "retx_delay_us_max": Column("retx max, us", digits=3),
    "retransmissions": Column("retransmissions", digits=4),
    "timeouts": Column("timeouts", digits=4),
    "reordered_packets": Column("reordered", digits=4),
}


def _published_figure(published: Published, key: str, protection: str) -> float | None:
    """What was published of a key; of a buffer, a pair of the least and the most."""
    if key == "packets_sent":
        return published_at(published, "linkguardian.stress.packets")
    buffer, separator, end = key.rpartition("_kb_")
    place = f"{buffer}_kb.{('min', 'max').index(end)}" if separator else key
    return published_at(published, f"linkguardian.stress.{protection.replace('-', '_')}.{place}")


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """Occupancy of the Tx and Rx buffers of the published variant, over time and by level."""
    try:
        series = finished.run(PUBLISHED_JOB).tables["series"]
    except (NotRunError, KeyError):
        return ()
    slots = slots_of(PROTECTIONS)
    parts = {name: series.filter(polars.col("protection") == name) for name in PROTECTIONS}
    return buffer_charts(
        {(name_of(name), slots[name]): part for name, part in parts.items()}, identifier="stress"
    )


def budgets(finished: Finished) -> tuple[LinkBudget, ...]:
    """Where the link's capacity went, variant by variant."""
    rows = known(
        [(job, protection) for job in VARIANTS for protection in PROTECTIONS],
        lambda place: link_budget(finished.row(*place), title=place[0]),
    )
    return tuple(budget for budget in rows.values() if budget is not None)


def sheets(finished: Finished, charts: Sequence[Chart]) -> tuple[Sheet, ...]:
    """Buffers side by side, and where the capacity of every job went."""
    speed = [(budget_label(budget), budget) for budget in budgets(finished)]
    found = [Sheet("stress-buffers", tuple(charts), columns=2)] if charts else []
    if speed:
        found.append(Sheet("stress-link-speed", (budget_chart(speed, identifier="stress-link-speed"),)))
    return tuple(found)


def insights(finished: Finished) -> tuple[Insight, ...]:
    """What LinkGuardian leaves of the losses, and its price."""
    lost, sent = lost_after_protection(finished, PUBLISHED_JOB, "lg")
    left = poisson_interval(lost, sent) if lost else Estimate(0.0, 0.0, zero_events_upper_bound(sent))
    before = finished.number(PUBLISHED_JOB, "lg", "actual_loss_rate")
    rate, ordered, free = (
        finished.number(PUBLISHED_JOB, name, key)
        for name, key in (("lg", "link_gbps"), ("lg", SPEED), ("lg-nb", SPEED))
    )
    shown = figure(left.value) if lost else f"≤ {figure(left.high, digits=2)}"
    return (
        Insight(
            20,
            f"{shown} lost",
            f"LinkGuardian leaves {lost:,} of {sent:,} frames lost on a link that loses {figure(before)}. "
            f"Its price is speed: {figure(ordered)} of {figure(rate)} Gb/s are left with order, "
            f"{figure(free)} without.",
            f"95 % interval of the loss: {figure(left.low)} to {figure(left.high)}.",
        ),
    )


EXPERIMENT = PublishedExperiment(
    **declared("stress", vars(measures)),
    jobs=jobs,
    tables=tables,
    charts=charts,
    budgets=budgets,
    sheets=sheets,
    insights=insights,
    route=LINK_ROUTE,
)
