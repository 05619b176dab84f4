"""The congestion window, as measured: what random loss does to it, what a code keeps of it, and its law."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.measures import Values, code_of, over_losses, point, series
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished
from lossylink.theory import fec as theory

DECREASE = 0.9
"""A sample below this part of the one before it is a decrease."""
FEWEST_SAMPLES = 20
"""Shorter stretches between two decreases say nothing about the shape of growth."""


def _kept(finished: Finished, protection: str) -> float:
    whole = point(finished, 0.0, protection, "cwnd_packets_mean")
    if whole == 0:
        raise NotRunError(f"{protection} had no window without loss")
    return point(finished, 1e-1, protection, "cwnd_packets_mean") / whole


def lead_of_strongest(finished: Finished) -> float:
    """Window at 1e-1 over that without loss, of (5, 5) over the best of the others."""
    others = (name for name in jobs.CODED if name != jobs.STRONGEST)
    return _kept(finished, jobs.STRONGEST) / max(_kept(finished, name) for name in others)


def least_fill(finished: Finished) -> float:
    """Smallest window over what fills the share of (5, 5): rate times the empty path's round trip."""
    k, h = code_of(jobs.STRONGEST)
    share_gbps = jobs.LINK_GBPS * float(theory.capacity_share(data_packets=k, parity_packets=h))
    filling = share_gbps * jobs.ROUND_TRIP_US / (jobs.WIRE_BYTES * 8e-3)
    return min(over_losses(finished, jobs.STRONGEST, "cwnd_packets_mean")) / filling


def rate_over_quotient(finished: Finished) -> float:
    """Payload over window / round trip, of the loss farthest from 1."""
    return _farthest(finished, lambda rate, window, trip: rate / (window / trip))


def rate_over_product(finished: Finished) -> float:
    """Payload over window x round trip, in bits and seconds, of the loss farthest from 1."""
    return _farthest(finished, lambda rate, window, trip: rate / (window * trip))


def _farthest(finished: Finished, compare: Callable[[float, float, float], float]) -> float:
    """Rate (b/s), window (bits) and round trip (s) compared; what the queue adds is part of the trip."""
    empty_us = point(finished, 1e-1, "none", "latency_us_p50")

    def ratio(loss: float) -> float:
        window_bits = point(finished, loss, jobs.STRONGEST, "cwnd_packets_mean") * jobs.MSS_BYTES * 8
        queueing_us = point(finished, loss, jobs.STRONGEST, "latency_us_mean") - empty_us
        rate_bps = point(finished, loss, jobs.STRONGEST, "throughput_gbps") * 1e9
        return compare(rate_bps, window_bits, (jobs.ROUND_TRIP_US + queueing_us) * 1e-6)

    return max((ratio(loss) for loss in jobs.LOSS_RATES), key=lambda found: abs(np.log(found)))


def _window_series(finished: Finished, algorithm: str) -> tuple[Values, Values]:
    time_s, window = series(finished, jobs.window_job(algorithm), "none", "cwnd_packets")
    # The first decrease ends slow start, which is another law.
    begin = int(np.argmax(window[1:] < DECREASE * window[:-1])) + 1
    return time_s[begin:], window[begin:]


def _decreases(window: Values) -> list[int]:
    return [int(place) + 1 for place in np.flatnonzero(window[1:] < DECREASE * window[:-1])]


def bend(finished: Finished, algorithm: str) -> float:
    """How much steeper the window grows in the steepest third between two losses than in the flattest.

    1 of a straight line; a correlation hardly tells a line from a cubic.
    """
    time_s, window = _window_series(finished, algorithm)
    bends = [
        _steepest_over_flattest(time_s[begin:end], window[begin:end])
        for begin, end in pairwise(_decreases(window))
        if end - begin >= FEWEST_SAMPLES
    ]
    if not bends:
        raise NotRunError(f"{algorithm} had no two losses far enough apart")
    return float(np.median(bends))


def _steepest_over_flattest(time_s: Values, window: Values) -> float:
    thirds = zip(np.array_split(time_s, 3), np.array_split(window, 3), strict=True)
    slopes = [float(np.polyfit(times, values, 1)[0]) for times, values in thirds]
    return max(slopes) / min(slopes) if min(slopes) > 0 else float("inf")


def decrease(finished: Finished, algorithm: str) -> float:
    """The part of its window that an algorithm keeps at a loss, median."""
    _, window = _window_series(finished, algorithm)
    places = _decreases(window)
    if not places:
        raise NotRunError(f"{algorithm} saw no loss")
    return float(np.median([window[place] / window[place - 1] for place in places]))
