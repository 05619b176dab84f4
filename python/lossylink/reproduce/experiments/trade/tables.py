"""Tables of the trade: clean latency, where each design wins by theory, and the difference point by point."""

from __future__ import annotations

from functools import partial

from lossylink.reproduce.experiments.trade.designs import (
    BITS,
    DESIGNS,
    KP4,
    PERCENTS,
    PLACES,
    RATES_GBPS,
    SHORT,
    SIZES_BYTES,
    Design,
    Place,
)
from lossylink.reproduce.experiments.trade.jobs import CLEAN_BITS, key
from lossylink.reproduce.experiments.trade.measures import clean_us, difference, edge, gain_ns
from lossylink.reproduce.framework.comparison import Column, ComparisonTable, filled
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Published
from lossylink.reproduce.framework.quantity import power_text


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """Without events, the edges, then a table a percentile."""
    return (
        _clean(finished),
        _edges(finished),
        *(_differences(finished, percent) for percent in PERCENTS.values()),
    )


def _places(finished: Finished) -> dict[Place, str]:
    return {
        place: place.name
        for place in PLACES
        if not finished.runs or key(KP4, place, CLEAN_BITS) in finished.runs
    }


def _clean(finished: Finished) -> ComparisonTable:
    return filled(
        "A write that meets no failed codeword",
        {
            partial(clean_us, finished, SHORT): f"{SHORT.name}, us",
            partial(clean_us, finished, KP4): f"{KP4.name}, us",
            partial(gain_ns, finished): Column("gain, ns", digits=3),
        },
        _places(finished),
        lambda place, read: read(place),
        digits=6,
        note="Hosts and switches without delays of their own. The gain is twice that of one direction: both "
        "have the code. The time that decoders compute is assumed.",
    )


def _edges(finished: Finished) -> ComparisonTable:
    words = {SHORT: "low-latency code wins to", KP4: "then KP4 to"}

    def read(flows: tuple[int, int], at: tuple[float, Design]) -> float:
        if not finished.runs:
            raise NotRunError("no link was run")
        (size_bytes, gbps), (percent, design) = flows, at
        return edge(design, gbps, size_bytes, percent)

    return filled(
        "Bit error ratios between which each design wins, by theory",
        {(percent, one): f"{percent:g} %: {words[one]}" for percent in PERCENTS.values() for one in DESIGNS},
        {(size, gbps): f"{gbps}G, {size:,} B" for size in SIZES_BYTES for gbps in RATES_GBPS},
        read,
        note="The low-latency code wins while fewer writes meet a failed codeword than lie beyond the "
        "percentile. Beyond the second edge both designs repair, which only the simulator compares.",
    )


def _differences(finished: Finished, percent: float) -> ComparisonTable:
    return filled(
        f"{percent:g} % point with the low-latency code and LLR, less that with KP4, in ns",
        {bits: power_text(bits) for bits in BITS},
        _places(finished),
        lambda place, bits: difference(finished, place, bits, percent).ns.value,
        digits=3,
        note="Across: bit error ratios. Negative: the low-latency code is quicker.",
    )
