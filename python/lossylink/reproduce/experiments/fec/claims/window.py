"""The congestion window: what random loss does to it, what a code keeps of it, and the law that it obeys."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.claims.numbered import question, statement
from lossylink.reproduce.experiments.fec.measures import (
    Values,
    code_of,
    grid_mean,
    mapped,
    over_losses,
    point,
    quotient,
    series,
)
from lossylink.reproduce.framework.judging import ROUNDED_BOUND_SLACK, at_least, at_most, between, bounded
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Published
from lossylink.theory import fec as theory

DECREASE = 0.9
"""A sample below this part of the one before it is a decrease."""
FEWEST_SAMPLES = 20
"""Shorter stretches between two decreases say nothing about the shape of growth."""

STRAIGHT = 1.5
"""A window that grows half as fast again in one third as in another is no line; set before a run."""


def claims(wharf: Published) -> tuple[Claim, ...]:
    """Statements 10, 12, 22 and 23."""
    return (*_published(wharf), *_law(), *_growth())


def _published(wharf: Published) -> tuple[Claim, ...]:
    threshold = float(wharf["cwnd_falls_without_fec_from_loss_rate"])
    return (
        statement(
            10,
            "Random loss above 1e-5 cuts the congestion window",
            bounded(
                quotient(
                    grid_mean(10 * threshold, "none", "cwnd_packets_mean"),
                    grid_mean(0.1 * threshold, "none", "cwnd_packets_mean"),
                ),
                at_most(0.8),
                unit="x",
                remark="window at 1e-4 over that at 1e-6",
            ),
            Basis.PREDICTION,
        ),
        statement(
            12,
            "With (5, 5) the window stays high up to a loss of 1e-1",
            bounded(
                mapped(_least_fill),
                at_least(1.0),
                unit="x",
                remark="smallest window over what fills the share of (5, 5): its rate times the round trip "
                "of the empty path",
            ),
            Basis.PREDICTION,
        ),
        statement(
            12,
            "No other code keeps more of its window than (5, 5)",
            bounded(
                mapped(_lead_of_strongest),
                at_least(1.0, slack=ROUNDED_BOUND_SLACK),
                unit="x",
                remark="window at 1e-1 over that without loss, (5, 5) over the best of the others",
            ),
            Basis.PREDICTION,
        ),
    )


def _law() -> tuple[Claim, ...]:
    return (
        statement(
            22,
            "The rate is about the congestion window times the round-trip time",
            bounded(
                mapped(_rate_over_product),
                between(0.5, 2.0),
                unit="/s^2",
                instead="the unit is wrong: the rate is the window divided by the round-trip time",
                remark="rate over the product, 1 if it were the law, (5, 5), the loss farthest from 1",
            ),
            Basis.PREDICTION,
        ),
        question(
            "The rate is about the congestion window divided by the round-trip time",
            bounded(
                mapped(_rate_over_quotient),
                between(0.8, 1.2),
                unit="x",
                remark="rate over that quotient, (5, 5), the loss farthest from 1",
            ),
            Basis.THEORY,
        ),
    )


def _growth() -> tuple[Claim, ...]:
    return (
        statement(
            23,
            "TCP increases its window linearly",
            bounded(
                mapped(lambda finished: _bend(finished, "cubic")),
                at_most(STRAIGHT),
                unit="x",
                instead="CUBIC's window grows slowly near its last maximum and fast away from it",
                remark="steepest over flattest third between two losses, median",
            ),
            Basis.PREDICTION,
        ),
        question(
            "Reno increases its window linearly",
            bounded(
                mapped(lambda finished: _bend(finished, "reno")),
                at_most(STRAIGHT),
                unit="x",
                remark="steepest over flattest third between two losses, median",
            ),
            Basis.THEORY,
        ),
        statement(
            23,
            "TCP reduces its window exponentially: each loss leaves a fixed part of it",
            bounded(
                mapped(lambda finished: _decrease(finished, "reno")),
                between(0.45, 0.55),
                unit="x",
                remark="median part that Reno keeps, expected 0.5",
            ),
            Basis.THEORY,
        ),
        statement(
            23,
            "CUBIC keeps 0.7 of its window",
            bounded(mapped(lambda finished: _decrease(finished, "cubic")), between(0.65, 0.75), unit="x"),
            Basis.THEORY,
        ),
    )


def _kept(finished: Finished, protection: str) -> float:
    whole = point(finished, 0.0, protection, "cwnd_packets_mean")
    if whole == 0:
        raise NotRunError(f"{protection} had no window without loss")
    return point(finished, 1e-1, protection, "cwnd_packets_mean") / whole


def _lead_of_strongest(finished: Finished) -> float:
    others = (name for name in jobs.CODED if name != jobs.STRONGEST)
    return _kept(finished, jobs.STRONGEST) / max(_kept(finished, name) for name in others)


def _least_fill(finished: Finished) -> float:
    k, h = code_of(jobs.STRONGEST)
    share_gbps = jobs.LINK_GBPS * float(theory.capacity_share(data_packets=k, parity_packets=h))
    filling = share_gbps * jobs.ROUND_TRIP_US / (jobs.WIRE_BYTES * 8e-3)
    return min(over_losses(finished, jobs.STRONGEST, "cwnd_packets_mean")) / filling


def _rate_over_quotient(finished: Finished) -> float:
    """Payload over window / round trip, of the loss farthest from 1."""
    return _farthest(finished, lambda rate, window, trip: rate / (window / trip))


def _rate_over_product(finished: Finished) -> float:
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


def _bend(finished: Finished, algorithm: str) -> float:
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


def _decrease(finished: Finished, algorithm: str) -> float:
    _, window = _window_series(finished, algorithm)
    places = _decreases(window)
    if not places:
        raise NotRunError(f"{algorithm} saw no loss")
    return float(np.median([window[place] / window[place - 1] for place in places]))
