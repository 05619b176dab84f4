"""Tables of the comparison: a quantity each, links and losses down, protections across."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from lossylink.charts.palette import name_of
from lossylink.reproduce.experiments.protections import window
from lossylink.reproduce.experiments.protections.burst_views import burst_tables
from lossylink.reproduce.experiments.protections.jobs import LOSS_RATES, PLACES, WORDS, speed_job
from lossylink.reproduce.experiments.protections.measures import (
    Read,
    added_us,
    number,
    residual_high,
    residual_value,
    speed_gbps,
)
from lossylink.reproduce.framework.comparison import ComparisonTable, filled
from lossylink.reproduce.framework.model import Finished, Published


@dataclass(frozen=True)
class _Quantity:
    title: str
    read: Read
    digits: int
    note: str = ""


_QUANTITIES = (
    _Quantity("Effective speed, Gb/s", speed_gbps, 4, "Octets delivered by a link that is kept busy."),
    _Quantity(
        "Residual loss",
        residual_value,
        3,
        "Of the frames at full load. Zero is none of those sent, no proof of 1e-8: see the next table.",
    ),
    _Quantity("Residual loss, upper end of the exact 95 % interval", residual_high, 3),
    _Quantity(
        "Added latency, median, us",
        added_us("p50"),
        3,
        "Beyond the same link without loss and protection, at a load that every protection carries.",
    ),
    _Quantity(
        "Added latency, 99.99 % point, us",
        added_us("p99_99"),
        3,
        "Near a loss of 1e-4 it lies at the edge between frames that were lost and those that were not.",
    ),
    _Quantity("Sender's buffer, most, KB", number("tx_buffer_kb_max"), 3),
    _Quantity("Receiver's buffer, most, KB", number("rx_buffer_kb_max"), 3),
)


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """One table a quantity, the points of the map, and the bursts of line codes."""
    return (
        *(_table(finished, quantity) for quantity in _QUANTITIES),
        _map(finished),
        *burst_tables(finished),
    )


def _table(finished: Finished, quantity: _Quantity) -> ComparisonTable:
    rows = {
        (place, loss): speed_job(place, loss)
        for place in PLACES
        for loss in LOSS_RATES
        if not finished.runs or speed_job(place, loss) in finished.runs  # a quick look has fewer losses
    }
    return filled(
        quantity.title,
        {word: name_of(word) for word in WORDS},
        rows,
        lambda at, word: quantity.read(finished, *at, word),
        digits=quantity.digits,
        note=quantity.note,
    )


def _map(finished: Finished) -> ComparisonTable:
    columns: dict[Callable[[window.Spot], float], str] = {
        partial(window.measured_share, finished): "simulated",
        window.expected_share: "lost replays counted",
        window.first_order_share: "1 / (1 + p W)",
    }

    def read(spot: window.Spot, share: Callable[[window.Spot], float]) -> float:
        finished.run(spot.job)
        return share(spot)

    return filled(
        "Go-back-N at a loss of 2 %, share of the line",
        columns,
        {
            spot: f"{spot.switch}, {spot.gbps}G, {spot.metres} m, {spot.frame_bytes} B"
            for spot in window.SPOTS
        },
        read,
        note="LLR whose receiver sees errors. A switch team's bar is 0.95.",
    )
