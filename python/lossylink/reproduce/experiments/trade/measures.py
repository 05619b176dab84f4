"""How long writes take over each design, which one wins, and how surely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np
from scipy import optimize

from lossylink.reproduce.experiments.trade.designs import (
    BITS,
    DESIGNS,
    KP4,
    PERCENTS,
    PLACES,
    SHORT,
    Design,
    Place,
    hit_share,
)
from lossylink.reproduce.experiments.trade.jobs import CLEAN_BITS, is_seen, key
from lossylink.reproduce.framework.judging import CONSISTENCY_CONFIDENCE
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished
from lossylink.reproduce.shared.measures import completion_times
from lossylink.statistics.estimates import Estimate, binomial_interval, percentile_interval

EACH_CONFIDENCE = 0.975
"""Of the interval of each of two designs, so that both hold with 95 %."""
NS_OF_US = 1_000.0
WAITS_NS = {100: 25.6, 200: 25.6, 400: 12.8, 800: 12.8}
"""What shorter codewords save of the wait in one direction, by rate: half of what KP4 interleaves."""
DECODING_NS = 20.0
"""What the shorter decoder saves, as assumed: 40 ns in place of 60 ns."""
LIMIT = 2e-4
"""A bit error ratio within what lines behind KP4 are built for (2.4e-4)."""


class Winner(StrEnum):
    """The design whose writes are shorter at a percentile."""

    SHORT = "low-latency code with LLR"
    KP4 = "KP4"
    OPEN = "not told apart"


@dataclass(frozen=True)
class Difference:
    """How much longer a percentile is with the low-latency code and LLR than with KP4, in nanoseconds."""

    ns: Estimate
    is_simulated: bool
    """Whether a run of either design at these bit errors is in it; else both are clean by theory."""

    @property
    def winner(self) -> Winner:
        """The design that is faster by more than the interval."""
        if self.ns.high < 0:
            return Winner.SHORT
        return Winner.KP4 if self.ns.low > 0 else Winner.OPEN


def clean_us(finished: Finished, design: Design, place: Place) -> float:
    """Completion time of a write that meets no failed codeword: one time, since nothing else differs."""
    return finished.number(key(design, place, CLEAN_BITS), design.protection, "fct_us_max")


def gain_ns(finished: Finished, place: Place) -> float:
    """How much quicker a clean write is with the low-latency code."""
    short, long = (clean_us(finished, design, place) for design in (SHORT, KP4))
    return NS_OF_US * (long - short)


def quantile_us(
    finished: Finished, design: Design, place: Place, bit_error_ratio: float, percent: float
) -> Estimate:
    """A percentile of a design: of its run, or that of clean writes where a run would see no event."""
    if not is_seen(design, place, bit_error_ratio):
        return Estimate.exact(clean_us(finished, design, place))
    times = completion_times(finished, (key(design, place, bit_error_ratio), design.protection))
    return percentile_interval(times, percent, confidence=EACH_CONFIDENCE)


def difference(finished: Finished, place: Place, bit_error_ratio: float, percent: float) -> Difference:
    """Compare the designs at a percentile."""
    short, long = (quantile_us(finished, one, place, bit_error_ratio, percent) for one in (SHORT, KP4))
    ns = (short.value - long.value, short.low - long.high, short.high - long.low)
    seen = any(is_seen(one, place, bit_error_ratio) for one in DESIGNS)
    return Difference(Estimate(*(NS_OF_US * one for one in ns)), seen)


def expected(place: Place, bit_error_ratio: float, percent: float) -> Winner | None:
    """Return the winner by the shares of writes that meet a failed codeword; None where both have more.

    A percentile is clean while fewer writes meet a failed codeword than lie beyond the percentile. Where both
    are not, the link's retry is up against that of the hosts, and only the simulator says which is quicker.
    """
    beyond = 1 - percent / 100
    short, long = (hit_share(one, place.gbps, place.size_bytes, bit_error_ratio) for one in (SHORT, KP4))
    if short < beyond:
        return Winner.SHORT
    return Winner.KP4 if long < beyond else None


@cache
def edge(design: Design, gbps: int, size_bytes: int, percent: float) -> float:
    """Return the bit error ratio at which as many writes meet a failed codeword as lie beyond a percentile.

    Examples
    --------
    >>> [f"{edge(design, 100, 24_387, 99.99):.2e}" for design in DESIGNS]
    ['2.77e-04', '7.03e-04']
    """
    beyond = np.log(1 - percent / 100)

    def excess(logarithm: float) -> float:
        return float(np.log(hit_share(design, gbps, size_bytes, float(np.exp(logarithm)))) - beyond)

    return float(np.exp(optimize.brentq(excess, np.log(1e-5), np.log(1e-2))))


def run_places(finished: Finished) -> list[Place]:
    """Return the places that were run; raises `NotRunError` where none was."""
    found = [place for place in PLACES if key(KP4, place, CLEAN_BITS) in finished.runs]
    if not found:
        raise NotRunError("no link was run")
    return found


def agreeing(finished: Finished) -> Iterator[bool]:
    """Yield whether the winner is the expected one, of each point that a run decides and theory knows."""
    for place in run_places(finished):
        for bits in BITS:
            for percent in PERCENTS.values():
                found = difference(finished, place, bits, percent)
                wanted = expected(place, bits, percent)
                if found.is_simulated and found.winner is not Winner.OPEN and wanted is not None:
                    yield found.winner is wanted


def hits(finished: Finished) -> Iterator[bool]:
    """Yield for each run whether as many writes met a lost frame as theory says."""
    for place in run_places(finished):
        for design in DESIGNS:
            for bits in BITS:
                if is_seen(design, place, bits):
                    source = key(design, place, bits), design.protection
                    met, flows = (round(finished.number(*source, name)) for name in ("flows_hit", "trials"))
                    share = hit_share(design, place.gbps, place.size_bytes, bits)
                    yield binomial_interval(met, flows, confidence=CONSISTENCY_CONFIDENCE).contains(share)


def share_hit(finished: Finished) -> float:
    """Share of the runs in which as many writes met a lost frame as theory says."""
    return _share(list(hits(finished)))


def share_agreeing(finished: Finished) -> float:
    """Share of the points that a run decides at which the expected design wins."""
    return _share(list(agreeing(finished)))


def _share(found: list[bool]) -> float:
    if not found:
        raise NotRunError("no run decides a point")
    return sum(found) / len(found)


def gain_error_ns(finished: Finished) -> float:
    """Largest deviation of the gain of a clean write from twice the shorter wait and decoding."""
    errors = [
        gain_ns(finished, place) - 2 * (WAITS_NS[place.gbps] + DECODING_NS) for place in run_places(finished)
    ]
    return max(errors, key=abs)


def lost_points(finished: Finished) -> float:
    """Points within the limits of KP4 lines at which the low-latency code is not quicker."""
    return float(
        sum(
            difference(finished, place, bits, percent).winner is not Winner.SHORT
            for place in run_places(finished)
            for bits in BITS
            if bits <= LIMIT
            for percent in PERCENTS.values()
        )
    )


def least_price(finished: Finished) -> float:
    """Least price of a retry over the gain of the low-latency code, where only that code is over its edge."""
    prices = [
        _slower_us(finished, place) * 1e3 / gain_ns(finished, place)
        for place in run_places(finished)
        if place.size_bytes > 1_024
    ]
    if not prices:
        raise NotRunError("no large write was run")
    return min(prices)


def _slower_us(finished: Finished, place: Place) -> float:
    short, long = (quantile_us(finished, design, place, 6e-4, 99.0).value for design in (SHORT, KP4))
    return short - long
