"""Charts of the fec experiment: the grid, a trace over time, and what datagrams wait."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lossylink.charts.chart import Axis, Chart, Guide, Series, Sheet, embedded, points
from lossylink.charts.distribution import thinned_series
from lossylink.charts.palette import name_of, slots_of
from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.measures import code_of, point, series
from lossylink.reproduce.experiments.fec.tables import QUANTITIES
from lossylink.reproduce.framework.missing import known
from lossylink.reproduce.framework.model import Finished, Published, alone

DRAWN = tuple(key for key in QUANTITIES if key != "residual_loss_rate")
TRACED = ("none", "fec-model:25/5", jobs.STRONGEST, "lg-nb")
TRACED_LOSS = 1e-2
TRACE = "fec-trace"


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """Every quantity against loss; latency and queue over time; waits of datagrams."""
    grid = (_against_loss(finished, key) for key in DRAWN)
    traces = (
        _over_time(
            finished, "latency_us_ewma", "Latency over time, moving average", Axis("latency", "µs", low=0.0)
        ),
        _over_time(finished, "queue_bytes", "Queue over time", Axis("queue", "KB", low=0.0), factor=1e-3),
    )
    return tuple(chart for chart in (*grid, *traces, _datagrams(finished)) if chart is not None)


def _against_loss(finished: Finished, key: str) -> Chart | None:
    label, unit = QUANTITIES[key]
    shown, factor = {"us": ("µs", 1.0), "B": ("KB", 1e-3)}.get(unit, (unit, 1.0))
    slots = slots_of(jobs.PROTECTIONS)
    drawn = (_line(finished, name, key, slots[name], factor) for name in jobs.PROTECTIONS)
    found = tuple(line for line in drawn if line is not None)
    if not found:
        return None
    return Chart(
        f"fec-{key.replace('_', '-')}",
        label,
        "Mean over trials." if key != "queue_bytes_max" else "Over all trials.",
        Axis("loss rate", "", "log"),
        Axis(label, shown, low=0.0),
        found,
    )


def _line(finished: Finished, protection: str, key: str, slot: str, factor: float) -> Series | None:
    losses = jobs.LOSS_RATES[1:]  # a logarithmic axis has no zero
    measured = known(losses, lambda loss: point(finished, loss, protection, key) * factor)
    if not measured:
        return None
    values = embedded(list(measured)), embedded(list(measured.values()))
    return Series(name_of(protection), slot, *values, kind="marked")


def _over_time(
    finished: Finished, column: str, title: str, axis: Axis, *, factor: float = 1.0
) -> Chart | None:
    slots = slots_of(TRACED)
    traces = known(TRACED, lambda name: series(finished, jobs.grid_job(TRACED_LOSS), name, column))
    found = []
    for protection, (time_s, values) in traces.items():
        told = np.isfinite(values)  # an interval without packets has no latency
        x, y = thinned_series(time_s[told], values[told] * factor)
        found.append(Series(name_of(protection), slots[protection], embedded(x), embedded(y)))
    if not found:
        return None
    caption = "First trial, loss 1e-2; each extreme is kept."
    identifier = f"{TRACE}-{column.replace('_', '-')}"
    return Chart(identifier, title, caption, Axis("time", "s"), axis, tuple(found), wide=True)


def _datagrams(finished: Finished) -> Chart | None:
    """Intact and recovered datagrams apart, smooth and bursty source."""
    kinds = {
        ("intact", jobs.UDP_SMOOTH, "mean"): ("intact, mean", "green", "circle"),
        ("recovered", jobs.UDP_SMOOTH, "mean"): ("recovered, mean, smooth", "blue", "square"),
        ("recovered", jobs.UDP_SMOOTH, "max"): ("recovered, max, smooth", "sky", "triangle"),
        ("recovered", jobs.UDP_BURSTY, "max"): ("recovered, max, bursty", "vermillion", "diamond"),
    }
    codes = [name for name in jobs.DATAGRAM_CODES if name.startswith("fec-model")]
    sizes = [float(code_of(code)[0]) for code in codes]

    def waits(one: tuple[str, str, str]) -> list[float]:
        kind, job, statistic = one
        return [finished.number(job, code, f"latency_{kind}_us_{statistic}") for code in codes]

    found = []
    for one, latencies in known(kinds, waits).items():
        name, slot, marker = kinds[one]
        found.append(points(name, slot, sizes, latencies, marker=marker))  # type: ignore[arg-type]
    if not found:
        return None
    return Chart(
        "fec-datagrams",
        "Latency of 100 Mb/s of datagrams",
        "Five parity packets a block, loss 1e-2.",
        Axis("data packets of a block", "", low=0.0),
        Axis("latency", "µs", "log"),
        tuple(found),
        (Guide("y", 9000.0, "published maximum"),),
        read="nearest",
    )


def sheets(_finished: Finished, charts: Sequence[Chart]) -> tuple[Sheet, ...]:
    """Latency and queue over time above each other, the rest alone."""
    traces = tuple(chart for chart in charts if chart.identifier.startswith(TRACE))
    others = alone([chart for chart in charts if chart not in traces])
    return (*others, Sheet(TRACE, traces)) if traces else others
