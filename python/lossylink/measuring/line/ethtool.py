"""What ``ethtool`` prints of a line's code: ``-S``, and ``-I --show-fec`` as text or JSON.

Drivers name their counters in ``-S`` as they like. The names here are those of mlx5, ice, bnxt and ionic.
``--show-fec`` prints the counters of the kernel: blocks since Linux 5.13, the histogram since 6.18.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from lossylink.errors import UserError
from lossylink.measuring.line.gauges import Bin, Gauges, count_of

#: Counters by what they count, with the names that drivers and the kernel give them.
NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "corrected": (
        "fec_corrected_blocks",
        "rx_fec_corrected_blocks",
        "rx_fec_corr_block",
        "fec_corrected_blocks_phy",
        "rsfec_correctable_blocks",
        "corrected_blocks",
    ),
    "uncorrectable": (
        "fec_uncorrectable_blocks",
        "rx_fec_uncorrectable_blocks",
        "rx_fec_uncorr_block",
        "fec_uncorrectable_blocks_phy",
        "rsfec_uncorrectable_blocks",
        "uncorrectable_blocks",
    ),
    "symbol_errors": ("fec_symbol_errors", "rx_fec_symbol_errors"),
    "corrected_bits": (
        "rx_corrected_bits_phy",
        "rx_corrected_bits",
        "fec_corrected_bits_total",
        "corrected_bits",
    ),
    "bits": ("rx_bits_phy",),
}
_COUNTER: Final = re.compile(r"^\s*(?:\[\d+\]:\s*)?([A-Za-z][\w.\- ]*?):\s*(\S+)(.*)$")
_LANE: Final = re.compile(r"rx_err_lane_(\d+)_phy|rx_corrected_bits_lane_?(\d+)(?:_phy)?")
_BIN: Final = re.compile(r"(?:\w*fec_)?(?:codeword_error_bin|symbols?_err|hist_bin|hist)_(\d+)(?:_to_(\d+))?")
_PER_LANE: Final = re.compile(r"\[\s*per_lane:\s*([\d, ]*)\]")


def recognises(text: str) -> bool:
    """Whether a text is of ``ethtool``."""
    if text.lstrip().startswith("["):
        return '"ifname"' in text and ('"statistics"' in text or '"active"' in text)
    return "NIC statistics:" in text or "FEC parameters for" in text or "PHY statistics:" in text


def read(text: str, name: str) -> dict[str, Gauges]:
    """Return the gauges of each interface, which ``ethtool -S`` does not name.

    Raises
    ------
    UserError
        A count is no count, or no counter is of the code.
    """
    found = _from_json(text, name) if text.lstrip().startswith("[") else _from_text(text)
    if all(gauges.is_empty for gauges in found.values()):
        raise UserError(f"{name}: the driver counts nothing of the line's code (FEC); no counter is no loss")
    return found


def _from_text(text: str) -> dict[str, Gauges]:
    named = re.search(r"FEC parameters for (\S+?):", text)
    counted: dict[str, int] = {}
    lanes: dict[int, int] = {}
    bins = []
    for line in text.splitlines():
        match = _COUNTER.match(line)
        if match is None:
            continue
        key, value, rest = match[1].strip(), match[2], match[3]
        if lane := _LANE.fullmatch(key):
            lanes[int(lane[1] or lane[2])] = count_of(value, where=key)
        elif one := _BIN.fullmatch(key):
            bins.append(Bin(int(one[1]), int(one[2] or one[1]), count_of(value, where=key)))
        elif field := _field(key):
            counted[field] = count_of(value, where=key)
            if field == "corrected_bits" and (parts := _PER_LANE.search(rest)):
                lanes |= {at: count_of(part, where=key) for at, part in enumerate(parts[1].split(","))}
    return {named[1] if named else "": _gauges(counted, lanes, bins)}


def _from_json(text: str, name: str) -> dict[str, Gauges]:
    try:
        told = json.loads(text)
        return {str(one["ifname"]): _of_object(one.get("statistics", {})) for one in told}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{name}: not what ethtool --json -I --show-fec prints; is it whole?") from None


def _of_object(statistics: Mapping[str, Any]) -> Gauges:
    counted, lanes = {}, {}
    for key, one in statistics.items():
        if (field := _field(key)) and "total" in one:
            counted[field] = count_of(str(one["total"]), where=key)
        if field == "corrected_bits":
            lanes = {at: count_of(str(part), where=key) for at, part in enumerate(one.get("lanes", ()))}
    bins = [
        Bin(int(one["bin_low"]), int(one["bin_high"]), count_of(str(one["total"]), where="hist"))
        for one in statistics.get("hist", ())
    ]
    return _gauges(counted, lanes, bins)


def _field(key: str) -> str | None:
    return next((field for field, names in NAMES.items() if key in names), None)


def _gauges(counted: Mapping[str, int], lanes: Mapping[int, int], bins: list[Bin]) -> Gauges:
    return Gauges(
        source="ethtool",
        histogram=tuple(sorted(bins)),
        lane_bits=tuple(lanes[at] for at in sorted(lanes)),
        **counted,
    )
