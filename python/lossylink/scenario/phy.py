"""``phy:code=rs544,ber=2e-4``: the code of an Ethernet line, as users write it.

The module reads words. The simulator checks what goes together, and says what does not.
"""

from __future__ import annotations

import re
from typing import Any, Final

from lossylink.errors import UserError, unknown
from lossylink.units import parse_ratio

#: Codes that run on lines whose symbols have one bit; all others run on PAM4.
_NRZ_CODES: Final = frozenset({"none", "firecode", "rs528"})
_LINE_BITS: Final = {"nrz": 1, "pam4": 2}
_SWITCHED: Final = {"on": True, "off": False}
_KEYS: Final = ("code", "ber", "interleave", "burst", "precoding", "lanes", "modulation")
#: Codewords that take the stream's symbols in turn, by the least rate (IEEE 802.3bs, 802.3df).
_INTERLEAVED: Final = ((800_000_000_000, 4), (200_000_000_000, 2), (0, 1))
#: Codes with names: their symbols, those that carry frames, and the bits of each (IEEE 802.3 clauses 91, 119;
#: 25/50G and Ethernet technology consortia).
_SPELLED: Final = {"rs528": "rs528/514/10", "rs544": "rs544/514/10", "rs272": "rs272/257/10"}
#: 257 bits of a codeword carry 32 octets of frames (256b/257b).
_BLOCK_BITS, _BLOCK_OCTETS = 257, 32
_FIRECODE_OCTETS: Final = 256
#: How long decoders compute, for codes that correct more than seven symbols, and for others. Vendors name 50
#: to 150 ns. These values are assumed: with them a 100 Gb/s line takes 111 ns with RS(544,514) and 66 ns with
#: RS(272,257), of 100 to 120 ns and 60 to 70 ns that are reported.
_DECODING_NS, _DECODING_SHORT_NS, _SHORT_CORRECTS = 60, 40, 7


def parse_phy(text: str, rest: str) -> dict[str, Any]:
    """Return the JSON of ``core::loss::LossSpec``; ``interleave`` is None where the line's rate decides.

    Examples
    --------
    >>> parse_phy("phy:code=rs544,ber=2e-4", "code=rs544,ber=2e-4")["line_bits"]
    2
    """
    pairs = [_word(text, part) for part in rest.split(",")]
    words = dict(pairs)
    for key in words:
        if key not in _KEYS:
            raise unknown("setting of a line", key, list(_KEYS))
    if twice := next((key for key, _ in pairs if [one for one, _ in pairs].count(key) > 1), None):
        raise UserError(f"'{text}': {twice} is there twice; leave one")
    if not {"code", "ber"} <= words.keys():
        raise UserError(f"'{text}': write the code and the bit error ratio, as phy:code=rs544,ber=2e-4")
    code = words["code"].lower()
    modulation = words.get("modulation", "nrz" if code in _NRZ_CODES else "pam4").lower()
    precoding = words.get("precoding", "off").lower()
    for key, value, valid in (("modulation", modulation, _LINE_BITS), ("precoding", precoding, _SWITCHED)):
        if value not in valid:
            raise UserError(f"'{text}': {key} is {' or '.join(valid)}, not '{value}'")
    return {
        "model": "phy",
        "code": code,
        "ber": parse_ratio(words["ber"]),
        "interleave": _count(text, words, "interleave", None),
        "burst": parse_ratio(words.get("burst", "0")),
        "precoding": _SWITCHED[precoding],
        "lanes": _count(text, words, "lanes", 1),
        "line_bits": _LINE_BITS[modulation],
    }


def interleaved_at(native: dict[str, Any], rate_bps: float) -> dict[str, Any]:
    """Return the JSON with the codewords that a line of this rate interleaves, unless the user chose them.

    Examples
    --------
    >>> line = parse_phy("", "code=rs544,ber=2e-4")
    >>> [interleaved_at(line, rate)["interleave"] for rate in (100e9, 400e9, 800e9)]
    [1, 2, 4]
    """
    if native["interleave"] is not None:
        return native
    by_rate = next(count for least, count in _INTERLEAVED if rate_bps >= least)
    return native | {"interleave": 1 if native["code"] in {"none", "firecode"} else by_rate}


def latency_ps(native: dict[str, Any], rate_bps: float) -> int:
    """Return how long the code of a line of this rate delays frames, in picoseconds.

    A decoder waits for all octets of the codewords that are interleaved, and computes.

    Examples
    --------
    >>> latency_ps(interleaved_at(parse_phy("", "code=rs544,ber=2e-4"), 100e9), 100e9)
    111200
    """
    if native["code"] == "none":
        return 0
    numbers = _numbers(native["code"])
    octets, corrects = (
        (_FIRECODE_OCTETS, 0)
        if numbers is None
        else (numbers[1] * numbers[2] * _BLOCK_OCTETS / _BLOCK_BITS, (numbers[0] - numbers[1]) // 2)
    )
    decoding_ns = _DECODING_NS if corrects > _SHORT_CORRECTS else _DECODING_SHORT_NS
    interleaved: int = native["interleave"]
    return round(octets * interleaved * 8e12 / rate_bps) + decoding_ns * 1_000


def overhead_ratio(code: str) -> float:
    """Return by what part the line's rate exceeds that of its frames.

    Examples
    --------
    >>> [overhead_ratio(code) for code in ("rs544", "rs528", "none")]
    [0.0625, 0.03125, 0.03125]
    """
    numbers = _numbers(code)
    if numbers is None:
        return 66 / 64 - 1
    return _BLOCK_BITS * numbers[0] / (8 * _BLOCK_OCTETS * numbers[1]) - 1


def _numbers(code: str) -> tuple[int, ...] | None:
    """Return the symbols of a Reed-Solomon code, those that carry frames, and the bits of each."""
    found = re.fullmatch(r"rs(\d+)/(\d+)/(\d+)", _SPELLED.get(code, code))
    numbers = tuple(int(number) for number in found.groups()) if found else (0, 0, 0)
    return numbers if numbers[1] else None  # the simulator refuses a code that carries nothing


def _word(text: str, part: str) -> tuple[str, str]:
    key, sign, value = (side.strip() for side in part.partition("="))
    if not (sign and value):
        raise UserError(f"'{text}': '{part.strip()}' is no setting; write phy:code=rs544,ber=2e-4")
    return key.lower(), value


def _count(text: str, words: dict[str, str], key: str, default: int | None) -> int | None:
    if key not in words:
        return default
    if not words[key].isdecimal() or len(words[key]) > 4:
        raise UserError(f"'{text}': {key} is a small whole number, not '{words[key]}'")
    return int(words[key])
