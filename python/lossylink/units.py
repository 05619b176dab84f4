"""Quantities with units as people write them, in tc's and SI spellings, turned into exact base units.

Bits per second, picoseconds, bytes and ratios. Deviations from tc, on purpose: ``bps`` is bits per second,
and ``KB`` is 1000 bytes (``KiB`` is 1024), because that is what the published tables mean.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from lossylink.errors import nearest

#: One-way delay of a metre of cable or fibre: light at two thirds of its speed in vacuum.
PICOSECONDS_PER_METRE = 5_000
#: The check sequence at the end of an Ethernet frame, which bit errors hit as well as the frame.
CHECK_BYTES = 4
#: A cell of the buffer of the switches in LinkGuardian's artifact.
_CELL_BYTES = 80

_RATE_PREFIX = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_RATE_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_RATE_UNITS = {
    prefix + unit: factor
    for prefix, factor in (_RATE_PREFIX | _RATE_BINARY).items()
    for unit in ("bit", "bps", "b/s", "bit/s", "")
    if prefix + unit
}
_TIME_UNITS = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "ms": 10**9,
    "s": 10**12,
    "min": 60 * 10**12,
    "h": 3600 * 10**12,
    "d": 86_400 * 10**12,
}
_TIME_UNITS |= {
    "µs": 10**6,
    "μs": 10**6,
    "nsec": 10**3,
    "nsecs": 10**3,
    "usec": 10**6,
    "usecs": 10**6,
    "msec": 10**9,
    "msecs": 10**9,
    "sec": 10**12,
    "secs": 10**12,
}
_SIZE_UNITS = {
    "": 1,
    "b": 1,
    "k": 10**3,
    "kb": 10**3,
    "m": 10**6,
    "mb": 10**6,
    "g": 10**9,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_LENGTH_UNITS = {"cm": Decimal("0.01"), "m": Decimal(1), "km": Decimal(1000)}
_COUNT_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}

_QUANTITY = re.compile(
    r"\s*([+-]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:e[+-]?[0-9]+)?|[+-]?\.[0-9]+)\s*(.*?)\s*", re.I
)


def _split(text: str, what: str, example: str) -> tuple[Decimal, str]:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not a {what}; write it like {example}")
    try:
        return Decimal(match[1].replace("_", "")), match[2]
    except InvalidOperation:
        raise ValueError(f"'{text}' is not a {what}; write it like {example}") from None


def _scaled(
    value: object, units: Mapping[str, int | Decimal], *, what: str, example: str, base: str, bare: bool
) -> int:
    """Turn a quantity into a whole number of base units, or say which part of it is wrong."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{value!r} is not a {what}; write it like {example}")
    number, unit = _split(str(value), what, example)
    if not unit and not bare and number:
        raise ValueError(f"'{value}' has no unit; write it like {example}")
    factor = units.get(unit.lower()) if unit or bare else 1
    if factor is None:
        raise _unknown_unit(unit, str(value), units, what, example)
    if number < 0:
        raise ValueError(f"'{value}' is negative; a {what} is at least 0")
    scaled = number * factor
    if scaled != scaled.to_integral_value():
        raise ValueError(f"'{value}' is not a whole number of {base}")
    return int(scaled)


def _unknown_unit(
    unit: str, value: str, units: Mapping[str, int | Decimal], what: str, example: str
) -> ValueError:
    guess = nearest(unit, (known for known in units if known))
    hint = f"did you mean '{guess}'? " if guess else ""
    return ValueError(f"unknown unit '{unit}' in '{value}'; {hint}A {what} looks like {example}")


def parse_rate(value: object) -> int:
    """Return a rate in bits per second; ``bps``, ``bit`` and ``b/s`` all mean bits.

    Examples
    --------
    >>> parse_rate("100Gbps"), parse_rate("2.5gbit"), parse_rate("10G")
    (100000000000, 2500000000, 10000000000)
    >>> parse_rate("100Gbs")
    Traceback (most recent call last):
    ValueError: unknown unit 'Gbs' in '100Gbs'; did you mean 'gbps'? A rate looks like 100Gbps
    """
    return _positive(
        _scaled(value, _RATE_UNITS, what="rate", example="100Gbps", base="bits per second", bare=False),
        value,
        "rate",
    )


def parse_time(value: object) -> int:
    """Return a time in picoseconds.

    Examples
    --------
    >>> parse_time("30us"), parse_time("3ms"), parse_time(0)
    (30000000, 3000000000, 0)
    """
    return _scaled(value, _TIME_UNITS, what="time", example="30us", base="picoseconds", bare=False)


def parse_positive_time(value: object) -> int:
    """Return a time in picoseconds that is more than nothing."""
    return _positive(parse_time(value), value, "time")


def parse_size(value: object) -> int:
    """Return a size in bytes; a bare number is bytes, ``KB`` is 1000 and ``KiB`` is 1024.

    Examples
    --------
    >>> parse_size("24387B"), parse_size("560KB"), parse_size("1MiB"), parse_size(1460)
    (24387, 560000, 1048576, 1460)
    """
    return _positive(
        _scaled(value, _SIZE_UNITS, what="size", example="24387B", base="bytes", bare=True), value, "size"
    )


def parse_length(value: object) -> int:
    """Return the one-way delay, in picoseconds, of a cable of this length (5 ns a metre).

    Examples
    --------
    >>> parse_length("20m"), parse_length("1km")
    (100000, 5000000)
    """
    metres = {unit: factor * PICOSECONDS_PER_METRE for unit, factor in _LENGTH_UNITS.items()}
    return _scaled(value, metres, what="length", example="20m", base="picoseconds of delay", bare=False)


def parse_count(value: object) -> int:
    """Return a count of at least one; ``100_000_000``, ``1e8`` and ``100M`` are the same.

    Examples
    --------
    >>> parse_count("100M"), parse_count("1e8"), parse_count(5000)
    (100000000, 100000000, 5000)
    """
    return _positive(
        _scaled(value, _COUNT_UNITS, what="count", example="100_000_000", base="units", bare=True),
        value,
        "count",
    )


def _positive(number: int, value: object, what: str) -> int:
    if number == 0:
        raise ValueError(f"'{value}' is zero; a {what} here is at least 1")
    return number


def parse_ratio(value: object) -> float:
    """Return a loss ratio between 0 and 1 from a ratio (``1e-3``) or a percentage (``0.1%``).

    A bare number above 1 is refused, because it is a percentage to some and a mistake to others.

    Examples
    --------
    >>> parse_ratio("0.1%"), parse_ratio("1e-3")
    (0.001, 0.001)
    >>> parse_ratio(15.66)
    Traceback (most recent call last):
    ValueError: 15.66 % or a ratio? '15.66' has no unit and a loss ratio is at most 1; write '15.66%' ...
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{value!r} is not a loss ratio; write it like 1e-3 or 0.1%")
    text = str(value).strip()
    if text.lower().lstrip("+-") in {"nan", "inf", "infinity"}:
        raise ValueError(f"'{text}' is not a loss ratio; write one between 0 and 1, or a percentage")
    number, unit = _split(text, "loss ratio", "1e-3 or 0.1%")
    if unit not in {"", "%"}:
        raise ValueError(f"unknown unit '{unit}' in '{text}'; a loss ratio looks like 1e-3 or 0.1%")
    if number < 0:
        raise ValueError(f"'{text}' is negative; a loss ratio is between 0 and 1")
    if unit == "%" and number > 100:
        raise ValueError(f"'{text}' is more than 100 %")
    if unit == "" and number > 1:
        percent = f"'{number}%' (a ratio of {number / 100})"
        mend = (
            f"write {percent} or a ratio such as {number / 100}" if number <= 100 else "write a ratio up to 1"
        )
        raise ValueError(f"{number} % or a ratio? '{text}' has no unit and a loss ratio is at most 1; {mend}")
    return float(number / 100 if unit == "%" else number)


def describe_ratio(ratio: float) -> str:
    """Spell a loss ratio out both ways, so that nobody takes one for the other.

    Examples
    --------
    >>> describe_ratio(1e-3)
    'loss 0.001 = 0.1 %'
    """
    return f"loss {ratio:.7g} = {ratio * 100:.7g} %"


def parse_switch(value: object) -> bool:
    """Return whether ``on``/``true``/``yes`` or ``off``/``false``/``no`` was written.

    Examples
    --------
    >>> parse_switch("off"), parse_switch(True)
    (False, True)
    """
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in {"on", "true", "yes", "1"}:
        return True
    if word in {"off", "false", "no", "0"}:
        return False
    raise ValueError(f"'{value}' is neither on nor off")


def cells(size_bytes: int | None) -> str:
    """Spell a depth as the artifact does.

    Examples
    --------
    >>> cells(100_000), cells(None)
    ('100.0KB (1250 cells)', 'none')
    """
    return "none" if size_bytes is None else f"{size_bytes / 1000:.1f}KB ({size_bytes // _CELL_BYTES} cells)"
