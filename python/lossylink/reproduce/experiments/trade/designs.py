"""Two designs of a link, the flows that tell them apart, and the share of flows that meet a failed codeword.

IEEE 802 discusses the low-latency code with link-level retry in place of KP4 (Nendica 1-24-0031-02). The
shorter code waits for half the octets, and fails at fewer bit errors. A retry then makes a frame late. KP4
leaves a lost frame to the hosts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from lossylink.theory.codewords import any_of, interleaved
from lossylink.theory.phy import Code, code_named, group_error_ratio

RATES_GBPS: Final = (100, 200, 400, 800)
LENGTHS_M: Final = (1, 50, 500)
BITS: Final = (1e-4, 1.5e-4, 2e-4, 3e-4, 4e-4, 6e-4, 8e-4, 1e-3, 1.3e-3)
"""Bit error ratios, from where neither design loses anything that is seen to where both do."""
SIZES_BYTES: Final = (1_000, 24_387)
"""A write of one packet, and the size of published experiments."""
PERCENTS: Final = {"p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}
PACKET_BYTES: Final = 1_024
FRAMING_BYTES: Final = 62
"""Ethernet, IP, UDP and RoCEv2 headers of a packet, and both of its check sequences."""
FIRST_BYTES: Final = 16
"""The address in the first packet of a write."""
AROUND_BYTES: Final = 20
GAP_BYTES: Final = 12
"""Preamble and smallest gap, and the gap alone."""


@dataclass(frozen=True)
class Design:
    """A code of the line with a protection."""

    code: str
    protection: str
    name: str


KP4: Final = Design("rs544", "none", "KP4")
SHORT: Final = Design("rs272", "llr", "low-latency code with LLR")
DESIGNS: Final = (SHORT, KP4)


@dataclass(frozen=True, order=True)
class Place:
    """A link without its code, and the size of the writes that cross it."""

    gbps: int
    metres: int
    size_bytes: int

    @property
    def name(self) -> str:
        """As tables and jobs call it."""
        return f"{self.gbps}G, {self.metres} m, {self.size_bytes:,} B"


PLACES: Final = tuple(
    Place(gbps, metres, size) for size in SIZES_BYTES for gbps in RATES_GBPS for metres in LENGTHS_M
)


def octets_in_stream(size_bytes: int) -> int:
    """Return the octets from the first preamble of a write to the end of its last frame.

    Examples
    --------
    >>> octets_in_stream(1_000), octets_in_stream(24_387)
    (1086, 26360)
    """
    packets = -(-size_bytes // PACKET_BYTES)
    padded = -(-size_bytes // 4) * 4
    return padded + packets * (FRAMING_BYTES + AROUND_BYTES) + FIRST_BYTES - GAP_BYTES


@cache
def hit_share(design: Design, gbps: int, size_bytes: int, bit_error_ratio: float) -> float:
    """Return how likely a write meets a failed group of codewords on an otherwise idle line.

    Examples
    --------
    >>> f"{hit_share(SHORT, 100, 24_387, 6e-4):.4f} {hit_share(KP4, 100, 24_387, 1e-3):.5f}"
    '0.0225 0.00644'
    """
    code = code_named(design.code)
    assert isinstance(code, Code), "both designs have a Reed-Solomon code"
    codewords = interleaved(gbps * 1e9)
    failed = group_error_ratio(code, bit_error_ratio=bit_error_ratio, interleaved=codewords)
    group_bytes = float(code.message_bytes) * codewords
    return any_of(failed, 1 + (octets_in_stream(size_bytes) - 1) / group_bytes)
