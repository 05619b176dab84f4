"""Tables of the fec experiment: each quantity over loss and protection, then the runs beside the grid."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lossylink.charts.palette import name_of
from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.measures import dropped_share, point
from lossylink.reproduce.framework.comparison import Column, ComparisonTable, filled
from lossylink.reproduce.framework.model import Finished, Published
from lossylink.reproduce.framework.quantity import power_text
from lossylink.reproduce.shared.measures import number

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
    return filled(
        f"{label} ({unit})" if unit else label,
        {protection: name_of(protection) for protection in jobs.PROTECTIONS},
        {loss: jobs.grid_job(loss) for loss in jobs.LOSS_RATES},
        lambda loss, protection: point(finished, loss, protection, key),
        digits=DIGITS,
    )


def _variants(
    finished: Finished, title: str, job: str, protections: tuple[str, ...], keys: dict[str, str]
) -> ComparisonTable:
    """One row a protection, one column a quantity."""
    return filled(
        title,
        {key: Column(label, digits=DIGITS) for key, label in keys.items()},
        {protection: name_of(protection) for protection in protections},
        lambda protection, key: finished.number(job, protection, key),
    )


def _drops(finished: Finished) -> ComparisonTable:
    """Which packets a full queue drops: the mechanism behind the published throughput."""
    places = {
        f"TCP, loss {power_text(loss)}": (jobs.grid_job(loss), jobs.STRONGEST) for loss in jobs.REMEDY_LOSSES
    }
    places[f"datagrams at {jobs.OVERLOAD_GBPS:g} Gb/s, loss 1e-1"] = (jobs.OVERLOAD, jobs.STRONGEST)
    places["TCP behind a policer, loss 1e-1"] = (jobs.remedy_job(1e-1), jobs.POLICED)
    columns: dict[Callable[..., float], str] = {
        partial(number, key="throughput_gbps"): "rate (Gb/s)",
        partial(dropped_share, kind="data"): "data dropped",
        partial(dropped_share, kind="parity"): "parity dropped",
        partial(number, key="residual_loss_rate"): "residual loss",
        partial(number, key="residual_loss_theory"): "its theory",
    }
    return filled(
        "What the full queue of (5, 5) drops",
        {read: Column(label, digits=DIGITS) for read, label in columns.items()},
        {place: label for label, place in places.items()},
        lambda place, read: read(finished, *place),
        note="Shares of what the sender and the encoder made; the theory knows no drops at the queue.",
    )
