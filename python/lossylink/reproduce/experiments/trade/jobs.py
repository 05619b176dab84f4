"""What is run: writes over both designs where a run can see events, and over each without events."""

from __future__ import annotations

from typing import Any, Final

from lossylink.reproduce.experiments.trade.designs import (
    BITS,
    DESIGNS,
    LENGTHS_M,
    PLACES,
    RATES_GBPS,
    Design,
    Place,
    hit_share,
)
from lossylink.reproduce.framework.model import Job, Scale

FLOWS: Final = 100_000
"""Ten are slower than the 99.99th percentile."""
QUICK_FLOWS: Final = 40_000
"""The fewest that give the 99.99th percentile an upper end of its interval."""
SEEN_SHARE: Final = 1e-5
"""Share of flows with an event from which on a point is simulated: one of `FLOWS`."""
CLEAN_BITS: Final = 1e-9
CLEAN_FLOWS: Final = 10


def key(design: Design, place: Place, bit_error_ratio: float) -> str:
    """The job of a design on a link."""
    return f"{design.code} {design.protection}, {place.name}, {bit_error_ratio:g}"


def is_seen(design: Design, place: Place, bit_error_ratio: float) -> bool:
    """Whether so many flows meet a failed codeword that a run sees some.

    Examples
    --------
    >>> [is_seen(DESIGNS[1], PLACES[0], bits) for bits in (6e-4, 8e-4)]
    [False, True]
    """
    return hit_share(design, place.gbps, place.size_bytes, bit_error_ratio) >= SEEN_SHARE


def jobs(scale: Scale) -> tuple[Job, ...]:
    """Every place; a quick look has the slowest and the fastest line, the shortest and the longest."""
    is_quick = scale.divisor > 1
    ends = {RATES_GBPS[0], RATES_GBPS[-1]}, {LENGTHS_M[0], LENGTHS_M[-1]}
    places = [one for one in PLACES if not is_quick or (one.gbps in ends[0] and one.metres in ends[1])]
    flows = scale.of(FLOWS, at_least=QUICK_FLOWS)
    return tuple(
        job
        for place in places
        for design in DESIGNS
        for job in (
            _job(design, place, CLEAN_BITS, CLEAN_FLOWS),
            *(_job(design, place, bits, flows) for bits in BITS if is_seen(design, place, bits)),
        )
    )


def _job(design: Design, place: Place, bit_error_ratio: float, flows: int) -> Job:
    settings: dict[str, Any] = {
        "link.rate": f"{place.gbps}Gbps",
        "link.length": f"{place.metres}m",
        "host.nic_rate": f"{place.gbps}Gbps",
        "host.profile": "ideal",
        "switch.profile": "ideal",
        "loss.forward": f"phy:code={design.code},ber={bit_error_ratio:g}",
        "flow.size": f"{place.size_bytes}B",
        "flow.trials": flows,
    }
    return Job(key(design, place, bit_error_ratio), "rdma-fct", (design.protection,), settings, flows / 1e5)
