"""Forward error correction on a 10G link as Wharf evaluated it: one TCP flow of 10 s, 25 times a point.

Seven protections over six loss rates, LinkGuardian on the same axes. The full size is 10,500 s of 10G
traffic, so it runs only when it is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars

from lossylink.report.chart import Axis, Chart, Series, embedded
from lossylink.report.palette import name_of, slots_of
from lossylink.reproduce.comparison import Column, ComparisonTable, Row, cell
from lossylink.reproduce.fec_claims import LOSS_RATES, PROTECTIONS, claims, job_at
from lossylink.reproduce.model import Finished, Job, NotRunError, Published, PublishedExperiment, Scale
from lossylink.reproduce.quantity import power_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRIALS = 25
DURATION_MS = 10_000
QUICK_TRIALS = 3
QUICK_DURATION_MS = 1000

SHOWN = {
    "throughput_gbps": ("Throughput", "Gb/s"),
    "cwnd_packets_mean": ("Mean congestion window", "packets"),
    "latency_us_mean": ("Mean latency", "us"),
    "queue_bytes_max": ("Deepest queue", "B"),
    "residual_loss_rate": ("Residual loss", ""),
}
"""Keys of a row that have a table; all but the last two also a chart."""


def jobs(scale: Scale) -> tuple[Job, ...]:
    """One job a loss rate; a quick look takes fewer and shorter trials."""
    quick = scale.divisor > 1
    trials, duration = (QUICK_TRIALS, QUICK_DURATION_MS) if quick else (TRIALS, DURATION_MS)
    settings = {"flow.trials": trials, "run.duration": f"{duration}ms"}
    weight = trials * duration / 1e3 * 0.3  # seconds for a protection: 10G at 0.35 us a packet
    return tuple(
        Job(job_at(loss), "fec", PROTECTIONS, {**settings, "loss.forward": power_text(loss)}, weight)
        for loss in LOSS_RATES
    )


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """One table a quantity: a row for each loss rate, a column for each protection."""
    columns = tuple(
        Column(name_of(protection), short=protection.removeprefix("fec-model:")) for protection in PROTECTIONS
    )
    found = []
    for key, (label, unit) in SHOWN.items():
        rows = tuple(
            Row(
                f"loss {power_text(loss)}",
                tuple(cell(finished.number, job_at(loss), name, key) for name in PROTECTIONS),
                "",
                3,
            )
            for loss in LOSS_RATES
        )
        found.append(ComparisonTable(f"{label} ({unit})" if unit else label, columns, rows))
    return tuple(found)


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """Throughput, window and latency against loss."""
    slots = slots_of(PROTECTIONS)
    found = []
    for key in ("throughput_gbps", "cwnd_packets_mean", "latency_us_mean"):
        label, unit = SHOWN[key]
        series = tuple(
            made
            for protection in PROTECTIONS
            if (made := _line(finished, protection, key, slots[protection])) is not None
        )
        if series:
            axis = Axis(label, "µs" if unit == "us" else unit, low=0.0)
            identifier = f"fec-{key.replace('_', '-')}"
            found.append(
                Chart(identifier, label, "Mean over trials.", Axis("loss rate", "", "log"), axis, series)
            )
    return tuple(found)


def _line(finished: Finished, protection: str, key: str, slot: str) -> Series | None:
    measured = {}
    for loss in LOSS_RATES:
        try:
            measured[loss] = finished.number(job_at(loss), protection, key)
        except NotRunError:
            continue
    if not measured:
        return None
    return Series(name_of(protection), slot, embedded(list(measured)), embedded(list(measured.values())))


def figures(finished: Finished, _published: Published) -> dict[str, Figure]:
    """Throughput and window against loss, for papers."""
    from lossylink import plot

    wanted = ("protection", "loss_rate", "throughput_gbps", "cwnd_packets_mean")
    frames = [
        run.rows.select(wanted) for run in finished.runs.values() if set(wanted) <= set(run.rows.columns)
    ]
    if not frames:
        return {}
    rows = polars.concat(frames, how="vertical_relaxed")
    return {
        "throughput": plot.fec_throughput(rows),
        "window": plot.fec_throughput(rows, value="cwnd_packets_mean"),
    }


EXPERIMENT = PublishedExperiment(
    name="fec",
    title="Forward error correction",
    summary="One TCP flow over a link that codes h parity packets for every k data packets, against loss "
    "from 1e-6 to 1e-1: what the code saves, what it costs, and what a queue does to both.",
    source="Wharf (NetCompute 2018) and its switch model",
    needs="fec",
    jobs=jobs,
    tables=tables,
    claims=claims,
    charts=charts,
    figures=figures,
    on_request=True,
)
