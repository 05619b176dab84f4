"""The (k, h) block code that ``fec`` and ``fec-model`` share: its text, its options, its closed forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from lossylink.declared.protections._family import Argument, Look, Option
from lossylink.declared.protections._options import choice, is_word
from lossylink.units import parse_positive_time, parse_time

_CODE = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")

PARITY_GROWTH_BYTES: Final = 26
"""Octets by which parity exceeds the longest frame: 14 Ethernet, 6 header, 2 length, 4 check (FEC-20)."""
#: An interface in front of an encoder sends by so much more than the code lets pass.
_SURPLUS: Final = 1.005

LOOKS: Final[Mapping[str, Look]] = {
    "25/1": Look(slot="purple"),
    "25/5": Look(slot="orange"),
    "5/1": Look(slot="yellow"),
    "5/5": Look(slot="sky"),
    "50/5": Look(slot="black"),
}
"""How the published codes are drawn."""


def read_code(text: str) -> dict[str, int]:
    """Read ``K/H``.

    Examples
    --------
    >>> read_code("25/5")
    {'k': 25, 'h': 5}
    """
    match = _CODE.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is no code; write it like 25/5")
    return {"k": int(match[1]), "h": int(match[2])}


def read_change(value: object) -> dict[str, int]:
    """Read ``K/H@TIME``.

    Examples
    --------
    >>> read_change("5/5@2s")
    {'at_ps': 2000000000000, 'k': 5, 'h': 5}
    """
    code, at, when = (side.strip() for side in str(value).partition("@"))
    if not at or not _CODE.fullmatch(code):
        raise ValueError(f"change '{value}' is no code and time; write change=5/5@2s")
    return {"at_ps": parse_time(when), **read_code(code)}


def _read_flush(value: object) -> int | None:
    if is_word(value, "off"):
        raise ValueError("fec always closes its blocks; flush=off is for fec-model")
    return None if is_word(value, "auto") else parse_positive_time(value)


CODE: Final = Argument(
    metavar="K/H",
    example="25/5",
    read=read_code,
    show=lambda text: f" ({text.replace('/', ',')})",
)
FLUSH: Final = Option(
    name="flush",
    read=_read_flush,
    default=None,
    usage="`flush=TIME`, `auto`",
    description="FEC: time from the first packet of a partial block to its end, or auto",
)
METER: Final = Option(
    name="meter",
    read=choice("meter", "off", "police", "mark"),
    default="off",
    usage="`meter=off`, `police`, `mark`",
    description="FEC: action of the meter before the encoder: off, police or mark",
)
CHANGE: Final = Option(
    name="change",
    read=read_change,
    default=None,
    usage="`change=K/H@TIME`",
    description="FEC: another code from the first block boundary after a time",
    common=False,
)


def value(tag: str, argument: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value with a code and its options; a flush timer that nobody chose is the family's own."""
    rest = {("flush_ps" if name == "flush" else name): value for name, value in options.items()}
    return {"family": tag, **argument, **rest}


def residual_loss(value: Mapping[str, Any], *, loss_ratio: float) -> float:
    """Return the share of frames that a code leaves lost when losses are independent."""
    from lossylink.theory.fec import residual_loss_ratio  # numpy, which help texts do without

    return float(
        residual_loss_ratio(data_packets=value["k"], parity_packets=value["h"], loss_ratio=loss_ratio)
    )


def share(value: Mapping[str, Any], *, frame_wire_bytes: int) -> float:
    """Return the share of the line that a code leaves for original frames, headers and parity counted."""
    from lossylink.theory.fec import capacity_share

    return float(
        capacity_share(
            data_packets=value["k"],
            parity_packets=value["h"],
            frame_wire_bytes=frame_wire_bytes,
            parity_growth_bytes=PARITY_GROWTH_BYTES,
        )
    )


def source_share(value: Mapping[str, Any], *, frame_wire_bytes: int) -> float:
    """Return a little more than `share`, so that frames wait at the interface and not behind the encoder.

    An encoder closes a block whose next frame is too long in coming: what sets the pace of a source must not
    be seen there.
    """
    if value.get("change") is not None:
        raise ValueError("change= counts from the start of a simulation")
    if value.get("priority") == "data":
        raise ValueError("priority=data depends on how full the source keeps the queue")
    return min(1.0, _SURPLUS * share(value, frame_wire_bytes=frame_wire_bytes))


def parameters(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a code by their row keys."""
    return {"fec_k": value["k"], "fec_h": value["h"]}
