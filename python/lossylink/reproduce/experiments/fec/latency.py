"""Latency, as measured: what the queue adds, what waiting for a block adds, to whom, and what remedies do."""

from __future__ import annotations

import numpy as np

from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.measures import code_of, over_losses, point, queueing_us, series
from lossylink.reproduce.experiments.fec.throughput import HEADER_BYTES
from lossylink.reproduce.framework.model import Finished
from lossylink.theory import fec as theory

CODED_TCP = "fec-model:25/5"
"""The code of the published TCP trace."""


def rank_with_overhead(finished: Finished) -> float:
    """Spearman's rank correlation; codes of equal overhead share a rank."""
    overheads = [0.0, *(h / k for k, h in jobs.CODES)]
    waits = [point(finished, 0.0, name, "latency_us_mean") for name in ("none", *jobs.CODED)]
    return float(np.corrcoef(_ranks(overheads), _ranks(waits))[0, 1])


def _ranks(values: list[float]) -> list[float]:
    return [
        sum(other < value for other in values) + sum(other == value for other in values) / 2
        for value in values
    ]


def drops_unseen(finished: Finished) -> float:
    """Share of the drops at the queue that hit parity, (5, 5) at 1e-1."""
    parity, data = (
        point(finished, 1e-1, jobs.STRONGEST, f"queue_drops_{kind}") for kind in ("parity", "data")
    )
    return parity / (parity + data) if parity + data else 0.0


def most_added_us(finished: Finished) -> float:
    """Mean latency beyond that without a code, without loss, of the code with the largest."""
    plain = point(finished, 0.0, "none", "latency_us_mean")
    return max(point(finished, 0.0, name, "latency_us_mean") for name in jobs.CODED) - plain


def latency_for_overhead(finished: Finished) -> float:
    """Queueing of (5, 5) over (25, 1), without loss, over the quotient of their h / k."""
    light = "fec-model:25/1"
    (k, h), (light_k, light_h) = code_of(jobs.STRONGEST), code_of(light)
    deep, shallow = (queueing_us(finished, jobs.grid_job(0.0), name) for name in (jobs.STRONGEST, light))
    return deep / shallow / (h / k / (light_h / light_k))


def most_intact_us(finished: Finished) -> float:
    """Mean latency of intact datagrams, of the code with the largest."""
    return max(_datagram_us(finished, name, "intact") for name in jobs.DATAGRAM_CODES)


def _datagram_us(finished: Finished, protection: str, kind: str) -> float:
    return finished.number(jobs.UDP_SMOOTH, protection, f"latency_{kind}_us_mean")


def least_step(finished: Finished) -> float:
    """Recovered over intact, (25, 5) over (5, 5), (50, 5) over (25, 5): the smallest."""
    small, middle, large = (_datagram_us(finished, f"fec-model:{k}/5", "recovered") for k in (5, 25, 50))
    return min(small / _datagram_us(finished, "fec-model:5/5", "intact"), middle / small, large / middle)


def expected_wait_us(_finished: Finished, protection: str) -> float:
    """Time from a datagram to the end of its block, by theory: (k-1)/2 gaps and h packet times."""
    k, h = code_of(protection)
    wait_s = theory.recovery_delay_mean_s(
        data_packets=k,
        parity_packets=h,
        rate_bps=jobs.LINK_GBPS * 1e9,
        gap_s=jobs.FRAME_BYTES * 8e-9 / jobs.DATAGRAM_GBPS,
    )
    return float(wait_s) * 1e6


def queue_share(finished: Finished) -> float:
    """Mean queue at line rate over mean latency, (25, 5) at 1e-2."""
    job = jobs.grid_job(1e-2)
    return queueing_us(finished, job, CODED_TCP) / finished.number(job, CODED_TCP, "latency_us_mean")


def sawtooth(finished: Finished) -> float:
    """Spread of the queue's series, 95th over 5th percentile, of its largest value."""
    _, queue = series(finished, jobs.grid_job(1e-2), CODED_TCP, "queue_bytes")
    low, high = np.percentile(queue, [5, 95])
    return float((high - low) / queue.max())


def recovery_wait_ratio(finished: Finished) -> float:
    """Wait of recovered beyond that of intact packets, (25, 5), TCP over datagrams."""

    def wait_us(job: str) -> float:
        late, early = (
            finished.number(job, CODED_TCP, f"latency_{kind}_us_mean") for kind in ("recovered", "intact")
        )
        return late - early

    return max(0.0, wait_us(jobs.grid_job(1e-2))) / wait_us(jobs.UDP_SMOOTH)


def deepest_mean(finished: Finished) -> float:
    """Mean depth of the queue of (5, 5), at the loss with the largest."""
    return max(over_losses(finished, jobs.STRONGEST, "queue_bytes_mean"))


def faster_than_datagrams(finished: Finished) -> float:
    """Rate of TCP under (25, 5) at 1e-2 over that of the datagrams."""
    return point(finished, 1e-2, CODED_TCP, "throughput_gbps") / jobs.DATAGRAM_GBPS


def residual(finished: Finished, protection: str) -> float:
    """Residual loss, at least one packet of the run."""
    job = jobs.remedy_job(1e-2)
    least = 1 / finished.number(job, protection, "frames_offered")
    return max(least, finished.number(job, protection, "residual_loss_rate"))


def share_of_room(finished: Finished, job: str) -> float:
    """Octets of a flow's frames over those that (5, 5) has room for."""
    k, h = code_of(jobs.STRONGEST)
    room = theory.capacity_share(data_packets=k, parity_packets=h, parity_growth_bytes=HEADER_BYTES)
    frames_gbps = finished.number(job, jobs.STRONGEST, "throughput_gbps") * jobs.WIRE_BYTES / jobs.MSS_BYTES
    return frames_gbps / (jobs.LINK_GBPS * float(room))
