"""Tables of the cliffs: a quantity each, lines and bit errors down, protections across."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from lossylink.charts.palette import name_of
from lossylink.reproduce.experiments.cliff.jobs import (
    EXPERIMENTS,
    LINES,
    LOSS_RATES,
    PROTECTIONS,
    RDMA,
    TCP,
    Line,
    bits,
    key,
)
from lossylink.reproduce.experiments.cliff.measures import residual, speed_gbps
from lossylink.reproduce.framework.comparison import ComparisonTable, filled
from lossylink.reproduce.framework.model import Finished, Published
from lossylink.reproduce.framework.quantity import figure, power_text

Read: TypeAlias = Callable[[Finished, Line, float, str], float]
"""Reads a number of a point: of a line, a loss and a protection."""
_NAMES = {TCP: "TCP", RDMA: "RDMA"}
_PERCENTILES = {"p50": "50 %", "p99": "99 %", "p99_9": "99.9 %"}


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """Completion times by percentile, then speed and residual loss."""
    times = (
        _table(finished, f"{_NAMES[name]} completion time, {words}, us", _time(name, percentile), 4)
        for name in (TCP, RDMA)
        for percentile, words in _PERCENTILES.items()
    )
    return (
        *times,
        _table(finished, "Effective speed, Gb/s", speed_gbps, 4, "Of a link that is kept busy."),
        _table(finished, "Residual loss", lambda *point: residual(*point).value, 3),
        _table(
            finished, "Residual loss, lower end of the 95 % interval", lambda *point: residual(*point).low, 3
        ),
        _table(
            finished, "Residual loss, upper end of the 95 % interval", lambda *point: residual(*point).high, 3
        ),
    )


def _time(experiment: str, percentile: str) -> Read:
    return lambda finished, line, loss, protection: finished.number(
        key(experiment, line, loss), protection, f"fct_us_{percentile}"
    )


def _table(finished: Finished, title: str, read: Read, digits: int, note: str = "") -> ComparisonTable:
    rows = {
        (line, loss): f"{line.name}, {figure(bits(line, loss))} (loss {power_text(loss)})"
        for line in LINES
        for loss in LOSS_RATES
        if not finished.runs or any(key(name, line, loss) in finished.runs for name in EXPERIMENTS)
    }
    columns = {protection: name_of(protection) for protection in PROTECTIONS}
    return filled(title, columns, rows, lambda at, name: read(finished, *at, name), digits=digits, note=note)
