"""LinkGuardian's switch-to-switch stress test: effective loss, link speed and buffers at 100G and 1e-3.

Published for the generator on Tofino switches. The saturated source and the switch without recirculation are
ours: the generator's period hides what non-blocking protection costs, and recirculation what ordering needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lossylink.charts.chart import Chart, Sheet
from lossylink.charts.link_budget import LinkBudget, link_budget
from lossylink.charts.palette import name_of
from lossylink.reproduce.experiments.stress.charts import published_buffers, stress_sheets
from lossylink.reproduce.experiments.stress.claims import (
    PROTECTIONS,
    PUBLISHED_JOB,
    PUBLISHED_PACKETS,
    SATURATED_JOB,
    SPEED,
    claims,
)
from lossylink.reproduce.framework.comparison import Cell, Column, ComparisonTable, Row, cell
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import (
    Finished,
    Insight,
    Job,
    Published,
    PublishedExperiment,
    Scale,
)
from lossylink.reproduce.framework.published import lookup
from lossylink.reproduce.framework.quantity import figure
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
    columns = tuple(Column(name_of(name), "calibrated") for name in PROTECTIONS)
    beside = ComparisonTable(
        "Stress test at 100 Gb/s, loss 1e-3",
        columns,
        (_frames_row(finished, published), *_published_rows(finished, published)),
        note="The delays of the tofino1 profile were fitted to these columns; loss rates were not. "
        "The published minimum of the Rx buffer is a reading of the Tx buffer's file.",
    )
    ours = ComparisonTable(
        "Every variant (ours, not published)",
        tuple(Column(label, digits=digits) for label, _, digits in _OUR_COLUMNS),
        tuple(
            Row(
                f"{name_of(protection)}, {job}",
                tuple(_read(finished, job, protection, key) for _, key, _ in _OUR_COLUMNS),
            )
            for job in VARIANTS
            for protection in PROTECTIONS
        ),
        note="Timeouts are skips by ackNoTimeout, counted apart from frames that stay lost; retx is the time "
        "from seeing a loss to its first copy.",
    )
    return beside, ours


@dataclass(frozen=True)
class _Line:
    """A line of the published table: our row key, their key and, for a range, the place in it."""

    label: str
    key: str
    published_key: str
    place: int | None = None
    unit: str = ""
    digits: int = 3


_PUBLISHED_LINES = (
    _Line("actual loss rate", "actual_loss_rate", "actual_loss_rate", digits=4),
    _Line("effective loss rate", "effective_loss_rate", "effective_loss_rate"),
    _Line("effective link speed", SPEED, SPEED, unit="Gb/s", digits=4),
    _Line("Tx buffer, minimum", "tx_buffer_kb_min", "tx_buffer_kb", 0, "KB"),
    _Line("Tx buffer, maximum", "tx_buffer_kb_max", "tx_buffer_kb", 1, "KB"),
    _Line("Rx buffer, minimum", "rx_buffer_kb_min", "rx_buffer_kb", 0, "KB"),
    _Line("Rx buffer, maximum", "rx_buffer_kb_max", "rx_buffer_kb", 1, "KB"),
)

# Heading, row key, digits.
_OUR_COLUMNS = (
    ("link speed, Gb/s", SPEED, 5),
    ("effective loss", "effective_loss_rate", 3),
    ("Tx median, KB", "tx_buffer_kb_p50", 3),
    ("Tx max, KB", "tx_buffer_kb_max", 3),
    ("Rx max, KB", "rx_buffer_kb_max", 3),
    ("retx median, us", "retx_delay_us_p50", 3),
    ("retx max, us", "retx_delay_us_max", 3),
    ("retransmissions", "retransmissions", 4),
    ("timeouts", "timeouts", 4),
    ("reordered", "reordered_packets", 4),
)


def _read(finished: Finished, job: str, protection: str, key: str, published: float | None = None) -> Cell:
    return cell(finished.number, job, protection, key, published=published)


def _frames_row(finished: Finished, published: Published) -> Row:
    frames = lookup(published, "linkguardian", "stress", "packets")
    cells = (_read(finished, PUBLISHED_JOB, protection, "packets_sent", frames) for protection in PROTECTIONS)
    return Row("frames sent", tuple(cells), digits=2)


def _published_rows(finished: Finished, published: Published) -> tuple[Row, ...]:
    return tuple(_published_row(finished, published, line) for line in _PUBLISHED_LINES)


def _published_row(finished: Finished, published: Published, line: _Line) -> Row:
    cells = []
    for protection in PROTECTIONS:
        value = lookup(published, "linkguardian", "stress", protection.replace("-", "_"), line.published_key)
        if value is not None and line.place is not None:
            value = value[line.place]
        cells.append(_read(finished, PUBLISHED_JOB, protection, line.key, value))
    return Row(line.label, tuple(cells), line.unit, line.digits)


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """Buffer occupancy over time and its distribution, for the published variant."""
    return published_buffers(finished, PUBLISHED_JOB, PROTECTIONS)


def budgets(finished: Finished) -> tuple[LinkBudget, ...]:
    """Where the link's capacity went, variant by variant."""
    found = []
    for job in VARIANTS:
        for protection in PROTECTIONS:
            try:
                budget = link_budget(finished.row(job, protection), title=job)
            except NotRunError:
                continue
            if budget is not None:
                found.append(budget)
    return tuple(found)


def sheets(finished: Finished, charts: Sequence[Chart]) -> tuple[Sheet, ...]:
    """Buffers and link speed."""
    return stress_sheets(charts, budgets(finished))


def insights(finished: Finished) -> tuple[Insight, ...]:
    """What LinkGuardian leaves of the losses, and its price."""
    lost, sent = lost_after_protection(PUBLISHED_JOB, "lg")(finished)
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
    name="stress",
    title="Switch-to-switch stress test",
    summary="Full frames at 100 Gb/s over a link that loses one in a thousand: what is still lost behind the "
    "protection, what the link still carries, and what both switches buffer for it.",
    source="LinkGuardian (SIGCOMM 2023), artifact and Figures 8 and 14",
    needs="stress",
    place=10,
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    budgets=budgets,
    sheets=sheets,
    insights=insights,
    route=LINK_ROUTE,
    guides=("experiments.md", "rare-events.md"),
)
