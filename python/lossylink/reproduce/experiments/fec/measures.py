"""Quantities of the fec experiment that its tables, its charts and several of its measures share."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished

Values = NDArray[np.float64]


def point(finished: Finished, loss: float, protection: str, key: str) -> float:
    """A number of the grid."""
    return finished.number(jobs.grid_job(loss, protection), protection, key)


def over_losses(finished: Finished, protection: str, key: str) -> list[float]:
    """A key of the grid over all loss rates."""
    return [point(finished, loss, protection, key) for loss in jobs.LOSS_RATES]


def series(finished: Finished, job: str, protection: str, column: str) -> tuple[Values, Values]:
    """A column of the table ``series`` over its time."""
    return (
        finished.column(job, protection, "series", "time_s"),
        finished.column(job, protection, "series", column),
    )


def queueing_us(finished: Finished, job: str, protection: str) -> float:
    """Mean latency that the queue alone accounts for: its mean depth at line rate."""
    return finished.number(job, protection, "queue_bytes_mean") * 8e-3 / jobs.LINK_GBPS


def dropped_share(finished: Finished, job: str, protection: str, kind: str) -> float:
    """Share of the ``data``, or of the ``parity``, for which the queue had no room."""
    sent = {"data": "frames_offered", "parity": "parity_frames"}[kind]
    dropped = finished.number(job, protection, f"queue_drops_{kind}")
    made = dropped + finished.number(job, protection, sent)
    if made == 0:
        raise NotRunError(f"{job} sent no {kind} for {protection}")
    return dropped / made


def code_of(protection: str) -> tuple[int, int]:
    """The k and h of a code, whatever its options.

    Examples
    --------
    >>> code_of("fec:25/5,meter=police")
    (25, 5)
    """
    k, h = protection.partition(":")[2].partition(",")[0].split("/")
    return int(k), int(h)


def residual_deviation(k: int, h: int, loss: float, packets: int) -> float:
    """Standard error of a residual loss: packets of a block that cannot be rebuilt are lost together.

    Examples
    --------
    >>> f"{residual_deviation(5, 1, 0.1, 1_000_000):.1e}"
    '2.7e-04'
    """
    n = k + h
    mean = square = 0.0
    for lost in range(h + 1, n + 1):
        probability = math.comb(n, lost) * loss**lost * (1 - loss) ** (n - lost)
        # Of the packets lost, those that are data follow a hypergeometric law.
        data = lost * k / n
        spread = data * (1 - k / n) * (n - lost) / (n - 1)
        mean += probability * data
        square += probability * (spread + data * data)
    return math.sqrt((square - mean * mean) / (packets / k)) / k
