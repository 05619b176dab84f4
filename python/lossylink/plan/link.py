"""The link that is planned for, and the times that its frames take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from lossylink.errors import UserError
from lossylink.scenario.profiles import load_profile

BITS_PER_BYTE: Final = 8
PICOSECONDS: Final = 10**12
NANOSECOND_S: Final = 1e-9

FRAMING_BYTES: Final = 24
"""Octets on the wire beyond a frame: check sequence 4, preamble and start 8, gap 12 (IEEE 802.3)."""

SHORTEST_FRAME_BYTES: Final = 60
LONGEST_FRAME_BYTES: Final = 9_014


@dataclass(frozen=True, kw_only=True)
class Link:
    """A link, what it corrupts, and the switches at its ends."""

    rate_bps: int
    propagation_ps: int
    loss_ratio: float
    """Frames corrupted, each on its own."""
    frame_bytes: int = 1_514
    """Ethernet frame without its check sequence."""
    switch: str = "tofino1"
    """Name of a switch profile, or a TOML file."""

    def __post_init__(self) -> None:
        """Refuse what cannot be planned for."""
        if not 0 < self.loss_ratio < 1:
            raise UserError(
                f"a loss of {self.loss_ratio:g} leaves nothing to plan; give a ratio between 0 and 1"
            )
        if not SHORTEST_FRAME_BYTES <= self.frame_bytes <= LONGEST_FRAME_BYTES:
            bounds = f"{SHORTEST_FRAME_BYTES} to {LONGEST_FRAME_BYTES} B"
            raise UserError(f"a frame of {self.frame_bytes} B does not fit Ethernet; give {bounds}")

    @property
    def profile(self) -> dict[str, Any]:
        """The switch profile's table."""
        return load_profile("switch", self.switch)

    @property
    def wire_bytes(self) -> int:
        """Octets that a frame takes on the wire."""
        return self.frame_bytes + FRAMING_BYTES

    @property
    def propagation_s(self) -> float:
        """One-way delay of the cable, beyond what the switch profile contains."""
        return self.propagation_ps / PICOSECONDS

    def serialisation_s(self, more_bytes: int = 0) -> float:
        """Seconds for which a frame, ``more_bytes`` longer, occupies the wire.

        Examples
        --------
        >>> link = Link(rate_bps=10**10, propagation_ps=0, loss_ratio=1e-3)
        >>> f"{link.serialisation_s() * 1e6:.4f} us"
        '1.2304 us'
        """
        return (self.wire_bytes + more_bytes) * BITS_PER_BYTE / self.rate_bps

    def bytes_in(self, seconds: float) -> float:
        """Bytes that pass in a time at line rate."""
        return self.rate_bps * seconds / BITS_PER_BYTE
