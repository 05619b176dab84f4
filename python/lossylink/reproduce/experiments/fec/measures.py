"""Quantities of the fec experiment that its claims are about, with their intervals where trials give one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.framework.judging import Measure
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished
from lossylink.statistics.estimates import Estimate, mean_interval

Values = NDArray[np.float64]


def point(finished: Finished, loss: float, protection: str, key: str) -> float:
    """A number of the grid."""
    return finished.number(jobs.grid_job(loss, protection), protection, key)


def over_losses(finished: Finished, protection: str, key: str) -> list[float]:
    """A key of the grid over all loss rates."""
    return [point(finished, loss, protection, key) for loss in jobs.LOSS_RATES]


def trial_mean(job: str, protection: str, column: str, *, factor: float = 1.0) -> Measure:
    """Mean over trials with its interval; a single trial stands as it is."""

    def measure(finished: Finished) -> Estimate:
        values = finished.column(job, protection, "trials", column) * factor
        return Estimate.exact(float(values[0])) if values.size == 1 else mean_interval(values)

    return measure


def grid_mean(loss: float, protection: str, column: str, *, factor: float = 1.0) -> Measure:
    """The mean over the trials of a point of the grid."""
    return trial_mean(jobs.grid_job(loss, protection), protection, column, factor=factor)


def quotient(over: Measure, under: Measure) -> Measure:
    """One measure over another, both above zero; the interval is the widest that theirs allow."""

    def measure(finished: Finished) -> Estimate:
        above, below = over(finished), under(finished)
        if below.value == 0:
            raise NotRunError("the quantity to divide by is zero")
        # Student's interval of few trials may reach below zero, which neither quantity can.
        low = max(above.low, 0.0) / below.high if math.isfinite(below.high) else 0.0
        high = above.high / below.low if below.low > 0 else math.inf
        return Estimate(above.value / below.value, low, high)

    return measure


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


def mapped(compute: Callable[[Finished], float]) -> Measure:
    """A number computed from several rows, without an interval of its own."""
    return lambda finished: Estimate.exact(compute(finished))
