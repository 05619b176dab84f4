"""What the low-latency code with a retry saves, and to which bit error ratio."""

from __future__ import annotations

from lossylink.reproduce.experiments.trade.designs import KP4, SHORT, Place
from lossylink.reproduce.experiments.trade.measures import edge, run_places
from lossylink.reproduce.experiments.trade.tables import gain_ns
from lossylink.reproduce.framework.model import Finished, Insight
from lossylink.reproduce.framework.quantity import figure

PERCENT = 99.99


def insights(finished: Finished) -> tuple[Insight, ...]:
    """The gain of the first link with large writes, and its edges."""
    place = max(run_places(finished), key=lambda one: (one.size_bytes, -one.gbps, -one.metres))
    return (_insight(finished, place),)


def _insight(finished: Finished, place: Place) -> Insight:
    to, then = (edge(design, place.gbps, place.size_bytes, PERCENT) for design in (SHORT, KP4))
    gain = figure(gain_ns(finished, place))
    return Insight(
        33,
        f"{gain} ns",
        f"A write takes this much less with the low-latency code and LLR than with KP4 at {place.gbps} Gb/s. "
        f"So does the slowest in ten thousand, up to a bit error ratio of {figure(to)}. From there to "
        f"{figure(then)} the slowest in ten thousand is quicker with KP4.",
        f"Writes of {place.size_bytes:,} B over an idle link. The wait for a codeword follows from the "
        "code. The decoders' time is assumed.",
    )
