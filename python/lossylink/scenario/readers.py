"""How the values of keys are read.

A reader raises `ValueError` with one line that says what is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, get_args

from lossylink.declared.backend import backend_names
from lossylink.errors import hint
from lossylink.units import (
    parse_count,
    parse_length,
    parse_positive_time,
    parse_rate,
    parse_ratio,
    parse_size,
    parse_switch,
    parse_time,
)

# Quantities in base units, each with its reader.
Rate = Annotated[int, parse_rate]
Time = Annotated[int, parse_time]
PositiveTime = Annotated[int, parse_positive_time]
Size = Annotated[int, parse_size]
Length = Annotated[int, parse_length]
Count = Annotated[int, parse_count]
Ratio = Annotated[float, parse_ratio]
OnOff = Annotated[bool, parse_switch]

#: What others call the backends.
_BACKENDS_ALSO = {
    "simulator": "sim",
    "simulation": "sim",
    "lab": "live",
    "virtual": "kernel",
    "uml": "kernel",
}
#: Packet payloads that a RoCE interface offers, in bytes (InfiniBand specification, path MTU).
RDMA_MTUS = (256, 512, 1024, 2048, 4096)


def read_rdma_mtu(value: object) -> int:
    """Read a packet payload that RDMA has, in bytes."""
    if str(value).strip().upper().removesuffix("B") not in {str(mtu) for mtu in RDMA_MTUS}:
        raise ValueError(f"RDMA has no MTU '{value}'; valid: {', '.join(map(str, RDMA_MTUS))}")
    return int(str(value).strip().upper().removesuffix("B"))


def read_backend(value: object) -> str:
    """Read the name of a backend."""
    if value not in backend_names():
        guess = hint(str(value), backend_names(), also=_BACKENDS_ALSO)
        raise ValueError(f"no such backend; {guess}valid: {', '.join(backend_names())}")
    return str(value)


def read_list(value: object) -> list[Any]:
    """Read a list, or one value as a list of it."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def axis_of(read: Callable[[object], Any]) -> Callable[[object], list[Any]]:
    """Read a list, one value, or values separated by commas as ``--set`` brings them."""

    def read_all(value: object) -> list[Any]:
        parts = value.split(",") if isinstance(value, str) else read_list(value)
        return [read(part.strip() if isinstance(part, str) else part) for part in parts]

    return read_all


def one_of(choice: Any) -> Callable[[object], object]:
    """Read one of the words of a `Literal`."""
    words = get_args(choice)

    def read(value: object) -> object:
        if value not in words:
            raise ValueError(f"no such choice; {hint(str(value), words)}valid: {', '.join(map(repr, words))}")
        return value

    return read


def read_time_or_auto(value: object) -> int | None:
    """Read a time into picoseconds; ``auto`` is nothing."""
    return None if value is None or str(value).strip().lower() == "auto" else parse_time(value)


def read_seed(value: object) -> int:
    """Read a seed."""
    word = str(value)
    if not word.isdecimal() or int(word) >= 2**64:
        raise ValueError("a seed is a whole number from 0 up to 2^64 - 1")
    return int(word)


def read_confidence(value: object) -> float:
    """Read how sure a decision must be."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not 0.5 < number < 1:
        raise ValueError("a confidence is a number above 0.5 and below 1")
    return number
