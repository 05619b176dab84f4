"""Charts and figures of the fec experiment: the grid, a trace over time, and what datagrams wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars

from lossylink.report.chart import Axis, Chart, Guide, Series, embedded, points
from lossylink.report.distribution import thinned_series
from lossylink.report.palette import name_of, slots_of
from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.measures import code_of, point, series
from lossylink.reproduce.experiments.fec.tables import QUANTITIES
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN = tuple(key for key in QUANTITIES if key != "residual_loss_rate")
TRACED = ("none", "fec-model:25/5", jobs.STRONGEST, "lg-nb")
TRACED_LOSS = 1e-2
GRID_COLUMNS = ("protection", "loss_rate", *DRAWN)


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """Every quantity against loss; latency and queue over time; waits of datagrams."""
    grid = (_against_loss(finished, key) for key in DRAWN)
    traces = (
        _over_time(
            finished, "latency_us_ewma", "Latency over time", Axis("latency, moving average", "µs", low=0.0)
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
    measured = {}
    for loss in jobs.LOSS_RATES[1:]:  # a logarithmic axis has no zero
        try:
            measured[loss] = point(finished, loss, protection, key) * factor
        except NotRunError:
            continue
    if not measured:
        return None
    return Series(name_of(protection), slot, embedded(list(measured)), embedded(list(measured.values())))


def _over_time(
    finished: Finished, column: str, title: str, axis: Axis, *, factor: float = 1.0
) -> Chart | None:
    slots = slots_of(TRACED)
    found = []
    for protection in TRACED:
        try:
            time_s, values = series(finished, jobs.grid_job(TRACED_LOSS), protection, column)
        except NotRunError:
            continue
        told = np.isfinite(values)  # an interval without packets has no latency
        x, y = thinned_series(time_s[told], values[told] * factor)
        found.append(Series(name_of(protection), slots[protection], embedded(x), embedded(y)))
    if not found:
        return None
    caption = "First trial, loss 1e-2; each extreme is kept."
    identifier = f"fec-trace-{column.replace('_', '-')}"
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
    found = []
    for (kind, job, statistic), (name, slot, marker) in kinds.items():
        try:
            waits = [finished.number(job, code, f"latency_{kind}_us_{statistic}") for code in codes]
        except NotRunError:
            continue
        sizes = [float(code_of(code)[0]) for code in codes]
        found.append(points(name, slot, sizes, waits, marker=marker))  # type: ignore[arg-type]
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


def figures(finished: Finished, _published: Published) -> dict[str, Figure]:
    """The same for papers."""
    from lossylink import plot

    rows = _grid_rows(finished)
    drawn = {} if rows is None else {_file_name(key): plot.fec_throughput(rows, value=key) for key in DRAWN}
    traces = {}
    for protection in TRACED:
        try:
            job = jobs.grid_job(TRACED_LOSS)
            traces[protection] = tuple(
                finished.column(job, protection, "series", column)
                for column in ("time_s", "latency_us_ewma", "queue_bytes")
            )
        except NotRunError:
            continue
    return drawn | ({"trace": plot.fec_trace(traces)} if traces else {})


def _grid_rows(finished: Finished) -> polars.DataFrame | None:
    places = {jobs.grid_job(loss, name) for loss in jobs.LOSS_RATES[1:] for name in jobs.PROTECTIONS}
    frames = [
        run.rows.select(GRID_COLUMNS)
        for key, run in finished.runs.items()
        if key in places and set(GRID_COLUMNS) <= set(run.rows.columns)
    ]
    return polars.concat(frames, how="vertical_relaxed") if frames else None


def _file_name(key: str) -> str:
    """The name of a figure's file.

    Examples
    --------
    >>> _file_name("throughput_gbps"), _file_name("queue_bytes_max")
    ('throughput', 'queue-max')
    """
    words = [word for word in key.split("_") if word not in {"gbps", "packets", "us", "bytes"}]
    return "-".join(words)
