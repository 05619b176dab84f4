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
    Place,
)
from lossylink.reproduce.experiments.trade.jobs import CLEAN_BITS, key
from lossylink.reproduce.experiments.trade.measures import NS_OF_US, clean_us, difference, edge
from lossylink.reproduce.framework.comparison import Cell, Column, ComparisonTable, Row, cell
from lossylink.reproduce.framework.model import Finished, Published
from lossylink.reproduce.framework.quantity import power_text


def tables(finished: Finished, _published: Published) -> tuple[ComparisonTable, ...]:
    """Without events, the edges, then a table a percentile."""
    return (
        _clean(finished),
        _edges(finished),
        *(_differences(finished, percent) for percent in PERCENTS.values()),
    )


def _places(finished: Finished) -> list[Place]:
    return [place for place in PLACES if not finished.runs or key(KP4, place, CLEAN_BITS) in finished.runs]


def _clean(finished: Finished) -> ComparisonTable:
    rows = [
        Row(
            place.name,
            (
                *(cell(clean_us, finished, design, place) for design in DESIGNS),
                cell(gain_ns, finished, place),
            ),
            "",
            6,
        )
        for place in _places(finished)
    ]
    return ComparisonTable(
        "A write that meets no failed codeword",
        (Column(f"{SHORT.name}, us"), Column(f"{KP4.name}, us"), Column("gain, ns", digits=3)),
        tuple(rows),
        "Hosts and switches without delays of their own. The gain is twice that of one direction: both "
        "have the code. The time that decoders compute is assumed.",
    )


def gain_ns(finished: Finished, place: Place) -> float:
    """How much quicker a clean write is with the low-latency code."""
    short, long = (clean_us(finished, design, place) for design in (SHORT, KP4))
    return NS_OF_US * (long - short)


def _edges(finished: Finished) -> ComparisonTable:
    rows = [_edge_row(finished, gbps, size) for size in SIZES_BYTES for gbps in RATES_GBPS]
    columns = tuple(
        Column(f"{percent:g} %: {words}")
        for percent in PERCENTS.values()
        for words in ("low-latency code wins to", "then KP4 to")
    )
    return ComparisonTable(
        "Bit error ratios between which each design wins, by theory",
        columns,
        tuple(rows),
        "The low-latency code wins while fewer writes meet a failed codeword than lie beyond the percentile. "
        "Beyond the second edge both designs repair, which only the simulator compares.",
    )


def _edge_row(finished: Finished, gbps: int, size_bytes: int) -> Row:
    found = (
        edge(design, gbps, size_bytes, percent) if finished.runs else None
        for percent in PERCENTS.values()
        for design in DESIGNS
    )
    return Row(f"{gbps}G, {size_bytes:,} B", tuple(Cell(one) for one in found))


def _differences(finished: Finished, percent: float) -> ComparisonTable:
    read = partial(_difference_ns, finished)
    rows = [
        Row(place.name, tuple(cell(read, place, bits, percent) for bits in BITS), "", 3)
        for place in _places(finished)
    ]
    return ComparisonTable(
        f"{percent:g} % point with the low-latency code and LLR, less that with KP4, in ns",
        tuple(Column(power_text(bits)) for bits in BITS),
        tuple(rows),
        "Across: bit error ratios. Negative: the low-latency code is quicker.",
    )


def _difference_ns(finished: Finished, place: Place, bit_error_ratio: float, percent: float) -> float:
    return difference(finished, place, bit_error_ratio, percent).ns.value
