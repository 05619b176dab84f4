"""Maps of the trade: bit error ratio by length, a panel a rate, coloured by the design that wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lossylink.charts.chart import Axis, Chart, Guide, Key, Series, embedded
from lossylink.reproduce.experiments.trade.designs import (
    BITS,
    DESIGNS,
    LENGTHS_M,
    PERCENTS,
    RATES_GBPS,
    SIZES_BYTES,
    Place,
)
from lossylink.reproduce.experiments.trade.jobs import CLEAN_BITS, key
from lossylink.reproduce.experiments.trade.measures import Difference, Winner, difference, edge
from lossylink.reproduce.framework.model import Finished, Published

_DRAWN: Final = ("p99", "p99_99")
"""Percentiles with a map; tables have all."""
_SLOTS: Final = {Winner.SHORT: "blue", Winner.KP4: "vermillion", Winner.OPEN: "grey"}
_BITS = Axis("bit error ratio before the code (pre-FEC)", "", "log", low=BITS[0] / 1.2, high=BITS[-1] * 1.2)
_LENGTH = Axis("cable", "m", "log", low=LENGTHS_M[0] / 2, high=LENGTHS_M[-1] * 2)
_CAPTION = (
    "Beside a point, below full ones: how much longer the percentile is with the low-latency code, in ns. "
    "Full: simulated, and a design wins with 95 % confidence. Empty: theory expects no event, and the "
    "times are those of runs without any. Lines: as many writes meet a failed codeword as lie beyond the "
    "percentile, with the low-latency code (left) and with KP4."
)


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """A map for each size of writes, percentile and rate that was run."""
    return tuple(
        chart
        for size in SIZES_BYTES
        for name, percent in PERCENTS.items()
        if name in _DRAWN
        for gbps in RATES_GBPS
        if (chart := _map(finished, size, name, percent, gbps)) is not None
    )


def _map(finished: Finished, size: int, name: str, percent: float, gbps: int) -> Chart | None:
    places = [Place(gbps, metres, size) for metres in LENGTHS_M]
    points = [
        (place, bits, difference(finished, place, bits, percent))
        for place in places
        if key(DESIGNS[0], place, CLEAN_BITS) in finished.runs
        for bits in BITS
    ]
    if not points:
        return None
    return Chart(
        f"trade-{size}-{name.replace('_', '-')}-{gbps}g",
        f"{size:,} B writes, {gbps}G, {percent:g} %",
        _CAPTION,
        _BITS,
        _LENGTH,
        tuple(_won(winner, points) for winner in Winner if any(one.winner is winner for _, _, one in points)),
        guides=tuple(Guide("x", edge(design, gbps, size, percent), "") for design in DESIGNS),
        read="nearest",
        keys=(Key("simulated", "circle"), Key("by theory", "circle", hollow=True)),
    )


def _won(winner: Winner, points: Sequence[tuple[Place, float, Difference]]) -> Series:
    own = [(place, bits, one) for place, bits, one in points if one.winner is winner]
    faster = f"{winner} is faster" if winner is not Winner.OPEN else str(winner)
    return Series(
        faster,
        _SLOTS[winner],
        embedded([bits for _, bits, _ in own]),
        embedded([place.metres for place, _, _ in own]),
        kind="points",
        marker="circle",
        hollow=tuple(not one.is_simulated for _, _, one in own),
        labels=tuple(_short(one.ns.value) for _, _, one in own),
        is_labelled=True,
    )


def _short(ns: float) -> str:
    """Write a difference in two or three letters and a sign.

    Examples
    --------
    >>> [_short(ns) for ns in (-91.2, 5504.0, 26_671.0, -1_064_082.0)]
    ['-91', '+5.5k', '+27k', '-1M']
    """
    size, letter = (1e6, "M") if abs(ns) >= 1e6 else (1e3, "k") if abs(ns) >= 1e3 else (1.0, "")
    value = ns / size
    return f"{value:+.1f}{letter}" if letter == "k" and abs(value) < 10 else f"{value:+.0f}{letter}"
