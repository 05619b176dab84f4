"""Tables of the fec experiment: each quantity over loss and protection, then the runs beside the grid."""

from __future__ import annotations

from lossylink.charts.palette import name_of
from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.measures import dropped_share, point
from lossylink.reproduce.framework.comparison import Column, ComparisonTable, Row, cell
from lossylink.reproduce.framework.model import Finished, Published
from lossylink.reproduce.framework.quantity import power_text

QUANTITIES = {
    "throughput_gbps": ("Throughput", "Gb/s"),
    "cwnd_packets_mean": ("Mean congestion window", "packets"),
    "latency_us_mean": ("Mean latency", "us"),
    "latency_us_p99": ("99th percentile of latency", "us"),
    "queue_bytes_mean": ("Mean queue", "B"),
    "queue_bytes_max": ("Deepest queue", "B"),
    "residual_loss_rate": ("Residual loss", ""),
}
"""Keys of a row that have a table over the grid."""

DATAGRAM_KEYS = {
    "latency_intact_us_mean": "intact, mean (us)",
    "latency_intact_us_max": "intact, max (us)",
    "latency_recovered_us_mean": "recovered, mean (us)",
    "latency_recovered_us_p99": "recovered, 99 % (us)",
    "latency_recovered_us_max": "recovered, max (us)",
}
REMEDY_KEYS = {
    "throughput_gbps": "rate (Gb/s)",
    "latency_us_mean": "latency, mean (us)",
    "latency_us_p99": "99 % (us)",
    "queue_bytes_mean": "queue, mean (B)",
    "queue_bytes_max": "max (B)",
    "residual_loss_rate": "residual loss",
}
DIGITS = 3


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """The grid, the limited host, remedies, overload and datagrams."""
    return (
        *(_over_grid(finished, key) for key in QUANTITIES),
        *(
            _variants(
                finished,
                f"Sending host limited to {jobs.PUBLISHED_CAP_GBPS:g} Gb/s, loss {power_text(loss)}",
                jobs.capped_job(loss),
                ("none", jobs.STRONGEST),
                REMEDY_KEYS,
            )
            for loss in jobs.REMEDY_LOSSES
        ),
        *(
            _variants(
                finished,
                f"Meter and priority, loss {power_text(loss)}",
                jobs.remedy_job(loss),
                jobs.REMEDIES,
                REMEDY_KEYS,
            )
            for loss in jobs.REMEDY_LOSSES
        ),
        _variants(finished, "Marking meter, DCTCP, loss 1e-2", jobs.MARKED, jobs.MARKING, REMEDY_KEYS),
        _drops(finished),
        *(
            _variants(finished, f"100 Mb/s of {job}, loss 1e-2", job, jobs.DATAGRAM_CODES, DATAGRAM_KEYS)
            for job in (jobs.UDP_SMOOTH, jobs.UDP_BURSTY)
        ),
    )


def _over_grid(finished: Finished, key: str) -> ComparisonTable:
    label, unit = QUANTITIES[key]
    columns = tuple(Column(name_of(protection)) for protection in jobs.PROTECTIONS)
    rows = tuple(
        Row(
            jobs.grid_job(loss),
            tuple(cell(point, finished, loss, name, key) for name in jobs.PROTECTIONS),
            "",
            DIGITS,
        )
        for loss in jobs.LOSS_RATES
    )
    return ComparisonTable(f"{label} ({unit})" if unit else label, columns, rows)


def _variants(
    finished: Finished, title: str, job: str, protections: tuple[str, ...], keys: dict[str, str]
) -> ComparisonTable:
    """One row a protection, one column a quantity."""
    columns = tuple(Column(label, digits=DIGITS) for label in keys.values())
    rows = tuple(
        Row(name_of(protection), tuple(cell(finished.number, job, protection, key) for key in keys))
        for protection in protections
    )
    return ComparisonTable(title, columns, rows)


def _drops(finished: Finished) -> ComparisonTable:
    """Which packets a full queue drops: the mechanism behind the published throughput."""
    places = {
        f"TCP, loss {power_text(loss)}": (jobs.grid_job(loss), jobs.STRONGEST) for loss in jobs.REMEDY_LOSSES
    }
    places[f"datagrams at {jobs.OVERLOAD_GBPS:g} Gb/s, loss 1e-1"] = (jobs.OVERLOAD, jobs.STRONGEST)
    places["TCP behind a policer, loss 1e-1"] = (jobs.remedy_job(1e-1), jobs.POLICED)
    columns = tuple(
        Column(label, digits=DIGITS)
        for label in ("rate (Gb/s)", "data dropped", "parity dropped", "residual loss", "its theory")
    )
    rows = []
    for label, (job, protection) in places.items():
        cells = (
            cell(finished.number, job, protection, "throughput_gbps"),
            cell(dropped_share, finished, job, protection, "data"),
            cell(dropped_share, finished, job, protection, "parity"),
            cell(finished.number, job, protection, "residual_loss_rate"),
            cell(finished.number, job, protection, "residual_loss_theory"),
        )
        rows.append(Row(label, cells))
    note = "Shares of what the sender and the encoder made; the theory knows no drops at the queue."
    return ComparisonTable("What the full queue of (5, 5) drops", columns, tuple(rows), note)
