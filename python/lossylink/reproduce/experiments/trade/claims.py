"""What theory says of the trade: the gain without events, how many writes meet one, and who wins."""

from __future__ import annotations

from lossylink.reproduce.experiments.trade.designs import BITS, KP4, PERCENTS, SHORT, Place
from lossylink.reproduce.experiments.trade.measures import (
    Winner,
    agreeing,
    difference,
    hits,
    quantile_us,
    run_places,
)
from lossylink.reproduce.experiments.trade.tables import gain_ns
from lossylink.reproduce.framework.judging import at_least, between, bounded
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Published
from lossylink.reproduce.shared.measures import derived

SOURCE = "ours, of IEEE 802 Nendica 1-24-0031-02"
FORM = "lossylink.theory.phy"
WAITS_NS = {100: 25.6, 200: 25.6, 400: 12.8, 800: 12.8}
"""What shorter codewords save of the wait in one direction, by rate: half of what KP4 interleaves."""
DECODING_NS = 20.0
"""What the shorter decoder saves, as assumed: 40 ns in place of 60 ns."""
LIMIT = 2e-4
"""A bit error ratio within what lines behind KP4 are built for (2.4e-4)."""


def claims(_published: Published) -> tuple[Claim, ...]:
    """The gain, the events, the winner."""
    return (_gain(), _hits(), _winners(), _within_limits(), _price())


def _gain() -> Claim:
    return Claim(
        "A clean write takes less with the low-latency code: twice the shorter wait and decoding",
        bounded(
            derived(_gain_error_ns),
            between(-0.1, 0.1),
            unit="ns",
            remark="largest deviation of all links from 91.2 ns at 100 and 200G, 65.6 ns at 400 and 800G",
        ),
        Basis.ASSUMED,
        SOURCE,
        ("link.phy_latency",),
    )


def _gain_error_ns(finished: Finished) -> float:
    errors = [
        gain_ns(finished, place) - 2 * (WAITS_NS[place.gbps] + DECODING_NS) for place in run_places(finished)
    ]
    return max(errors, key=abs)


def _hits() -> Claim:
    return Claim(
        "As many writes meet a failed codeword as bit errors, code and octets say, in every run",
        bounded(
            derived(lambda finished: _share(list(hits(finished)))),
            between(1.0, 1.0),
            remark="share of the runs whose 99.9 % interval holds the closed form",
        ),
        Basis.THEORY,
        FORM,
    )


def _winners() -> Claim:
    return Claim(
        "The low-latency code wins while fewer writes meet a failed codeword than lie beyond the percentile, "
        "and then KP4 wins until its own do",
        bounded(
            derived(lambda finished: _share(list(agreeing(finished)))),
            between(1.0, 1.0),
            remark="share of the points that a run decides",
        ),
        Basis.THEORY,
        FORM,
    )


def _share(found: list[bool]) -> float:
    if not found:
        raise NotRunError("no run decides a point")
    return sum(found) / len(found)


def _within_limits() -> Claim:
    return Claim(
        f"At a bit error ratio of {LIMIT:g}, which KP4 lines are built for, the low-latency code with LLR is "
        "quicker on every link at every percentile",
        bounded(
            derived(lambda finished: float(sum(_loses(finished)))),
            between(0.0, 0.0),
            unit="points",
            remark="where it is not; by theory, since hardly a write meets an event",
        ),
        Basis.ASSUMED,
        SOURCE,
        ("link.phy_latency",),
    )


def _loses(finished: Finished) -> list[bool]:
    return [
        difference(finished, place, bits, percent).winner is not Winner.SHORT
        for place in run_places(finished)
        for bits in BITS
        if bits <= LIMIT
        for percent in PERCENTS.values()
    ]


def _price() -> Claim:
    return Claim(
        "Where only the low-latency code is over its edge, its retry costs at least three times its gain",
        bounded(
            derived(_least_price),
            at_least(3.0),
            unit="x",
            remark="99 % point at 6e-4, writes of 24,387 B: least of all links",
        ),
        Basis.PREDICTION,
        SOURCE,
    )


def _least_price(finished: Finished) -> float:
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
