"""Where the octets of a protected link go: payload, framing, header, copies, dummies, pauses and idling.

Read from the octet counters of a stress row. Capacity is rate times time; what no counter claims was idle,
and of that the time in which the sender's queue was paused is shown apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PREAMBLE_AND_GAP_OCTETS = 20
"""Preamble, start delimiter and minimum inter-frame gap of one frame (IEEE 802.3)."""

NEEDED_KEYS = ("octets_data", "octets_header", "octets_copies", "octets_control", "pause_seconds")
"""Octets on the wire with preamble and gap: first transmissions without the header, and the rest by cause."""


@dataclass(frozen=True)
class Part:
    """One share of the link, in Gb/s."""

    name: str
    slot: str
    gbps: float


@dataclass(frozen=True)
class LinkBudget:
    """All shares of one link under one protection; they add up to its rate."""

    title: str
    protection: str
    link_gbps: float
    parts: tuple[Part, ...]


def link_budget(row: Mapping[str, Any], *, title: str) -> LinkBudget | None:
    """The budget of a stress row, or none when the row lacks a counter.

    Examples
    --------
    >>> row = {
    ...     "protection": "lg", "link_gbps": 100.0, "simulated_seconds": 1.0, "packets_sent": 1_000_000,
    ...     "octets_data": 1_538_000_000, "octets_header": 3_000_000, "octets_copies": 3_082_000,
    ...     "octets_control": 84_000, "pause_seconds": 0.5,
    ... }
    >>> budget = link_budget(row, title="stress")
    >>> round(sum(part.gbps for part in budget.parts), 9)
    100.0
    """
    if any(row.get(key) is None for key in NEEDED_KEYS):
        return None
    seconds, rate = float(row["simulated_seconds"]), float(row["link_gbps"])
    if seconds <= 0:
        return None

    def gbps(octets: float) -> float:
        return octets * 8 / seconds / 1e9

    framing = PREAMBLE_AND_GAP_OCTETS * row["packets_sent"]
    used = [
        Part("frames", "blue", gbps(row["octets_data"] - framing)),
        Part("preamble and gap", "sky", gbps(framing)),
        Part("protection header", "orange", gbps(row["octets_header"])),
        Part("copies", "vermillion", gbps(row["octets_copies"])),
        Part("dummies, control", "purple", gbps(row["octets_control"])),
    ]
    idle = max(0.0, rate - sum(part.gbps for part in used))
    paused = min(idle, rate * float(row["pause_seconds"]) / seconds)
    parts = (*used, Part("paused", "yellow", paused), Part("idle", "grey", idle - paused))
    return LinkBudget(title, str(row["protection"]), rate, parts)
