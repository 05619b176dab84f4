"""``phy:code=rs544,ber=2e-4``: the code of an Ethernet line, as users write it.

The module reads words. The simulator checks what goes together, and says what does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lossylink.errors import UserError, unknown
from lossylink.units import parse_ratio

if TYPE_CHECKING:
    from lossylink.theory.phy import LineCode

#: Codes that run on lines whose symbols have one bit; all others run on PAM4.
_NRZ_CODES: Final = frozenset({"none", "firecode", "rs528"})
_LINE_BITS: Final = {"nrz": 1, "pam4": 2}
_SWITCHED: Final = {"on": True, "off": False}
_KEYS: Final = ("code", "ber", "interleave", "burst", "precoding", "lanes", "modulation")
#: How long decoders compute, for codes that correct more than seven symbols, and for others. Vendors name 50
#: to 150 ns. These values are assumed: with them a 100 Gb/s line takes 111 ns with RS(544,514) and 66 ns with
#: RS(272,257), of 100 to 120 ns and 60 to 70 ns that are reported.
_DECODING_NS, _DECODING_SHORT_NS, _SHORT_CORRECTS = 60, 40, 7


def parse_phy(text: str, rest: str) -> dict[str, Any]:
    """Return the JSON of ``core::loss::LossModel``; ``interleave`` is None where the line's rate decides.

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
    if native["code"] in {"none", "firecode"}:
        return native | {"interleave": 1}
    from lossylink.theory.codewords import interleaved  # numpy, for lines with a code alone

    return native | {"interleave": interleaved(rate_bps)}


def latency_ps(native: dict[str, Any], rate_bps: float) -> int:
    """Return how long the code of a line of this rate delays frames, in picoseconds.

    A decoder waits for all octets of the codewords that are interleaved, and computes.

    Examples
    --------
    >>> latency_ps(interleaved_at(parse_phy("", "code=rs544,ber=2e-4"), 100e9), 100e9)
    111200
    """
    from lossylink.theory.phy import Code, codeword_wait_ns  # as above

    code = _code(native["code"])
    wait_ps = round(1e3 * codeword_wait_ns(code, rate_bps=rate_bps, interleaved=native["interleave"]))
    corrects = code.corrects if isinstance(code, Code) else 0
    decoding_ns = _DECODING_NS if corrects > _SHORT_CORRECTS else _DECODING_SHORT_NS
    return wait_ps + decoding_ns * 1_000 if wait_ps else 0


def overhead_ratio(code: str) -> float:
    """Return by what part the line's rate exceeds that of its frames.

    Examples
    --------
    >>> [overhead_ratio(code) for code in ("rs544", "rs528", "none")]
    [0.0625, 0.03125, 0.03125]
    """
    from lossylink.theory.phy import line_overhead  # as above

    return float(line_overhead(_code(code)))


def _code(name: str) -> LineCode:
    from lossylink.theory.phy import code_named  # as above

    try:
        return code_named(name)
    except ValueError as error:
        raise UserError(str(error)) from None


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
