"""How the options of link-level retry are written; ranges are the core's business."""

from __future__ import annotations

from typing import Final

from lossylink.declared.protections._family import Option
from lossylink.declared.protections._options import choice, count, is_word
from lossylink.units import parse_positive_time, parse_size, parse_switch

UNLIMITED_REPLAYS: Final = 255
"""The count of replays that never flushes (LLR-13)."""
SPACING_BYTES: Final = 2048
"""Octets from one control set to the next (LLR-7)."""
SAMPLE_REPLAYS: Final = 3
"""Replays of all sample links (LLR-13)."""

_PICOSECONDS_PER_NANOSECOND = 1000
_ACTIONS = ("best-effort", "block", "discard")


def read_replays(value: object) -> int:
    """Read a count of replays, or ``unlimited``.

    Examples
    --------
    >>> read_replays("3"), read_replays("unlimited")
    (3, 255)
    """
    read = count("replays", none="unlimited")(value)
    return UNLIMITED_REPLAYS if read is None else read


def read_timer_ns(value: object) -> int | None:
    """Read a time into whole nanoseconds, as switches count it, or ``auto``.

    Examples
    --------
    >>> read_timer_ns("5.5us"), read_timer_ns("auto")
    (5500, None)
    >>> read_timer_ns("1500ps")
    Traceback (most recent call last):
    ValueError: timer '1500ps' is not a whole number of nanoseconds
    """
    if is_word(value, "auto"):
        return None
    nanoseconds, rest = divmod(parse_positive_time(value), _PICOSECONDS_PER_NANOSECOND)
    if rest:
        raise ValueError(f"timer '{value}' is not a whole number of nanoseconds")
    return nanoseconds


def read_bytes(value: object) -> int | None:
    """Read a size into bytes, or ``auto``.

    Examples
    --------
    >>> read_bytes("135KB"), read_bytes("auto")
    (135000, None)
    """
    return None if is_word(value, "auto") else parse_size(value)


OPTIONS: Final = (
    Option(
        name="replays",
        read=read_replays,
        default=SAMPLE_REPLAYS,
        usage="`replays=N`, `unlimited`",
        description="LLR: fruitless replays before the link gives up the outstanding frames, or unlimited",
    ),
    Option(
        name="timer",
        read=read_timer_ns,
        default=None,
        usage="`timer=TIME`, `auto`",
        description="LLR: replay timer, or auto: four loops of the link",
    ),
    Option(
        name="frames",
        read=count("frames", none="auto"),
        default=None,
        usage="`frames=N`, `auto`",
        description="LLR: frames that may be outstanding, or auto: enough to fill the loop of the link",
    ),
    Option(
        name="bytes",
        read=read_bytes,
        default=None,
        usage="`bytes=SIZE`, `auto`",
        description="LLR: bytes that may be outstanding, or auto: enough to fill the loop of the link",
    ),
    Option(
        name="spacing",
        read=parse_size,
        default=SPACING_BYTES,
        usage="`spacing=SIZE`",
        description="LLR: bytes of line from one ACK or NACK to the next",
    ),
    Option(
        name="on_init",
        read=choice("on_init", *_ACTIONS),
        default="best-effort",
        usage="`on_init=best-effort`, `block`, `discard`",
        description="LLR: until both ends agree, new frames go without protection, wait or are dropped",
    ),
    Option(
        name="on_flush",
        read=choice("on_flush", *_ACTIONS),
        default="best-effort",
        usage="`on_flush=best-effort`, `block`, `discard`",
        description="LLR: after giving up for good, new frames go without protection, wait or are dropped",
    ),
    Option(
        name="reinit",
        read=parse_switch,
        default=True,
        usage="`reinit=on`, `off`",
        description="LLR: start over after giving up the outstanding frames",
    ),
    Option(
        name="errors",
        read=choice("errors", "dropped", "seen"),
        default="dropped",
        usage="`errors=dropped`, `seen`",
        description="LLR: whether the receiver sees a corrupted frame, or learns of it from the next",
    ),
)
