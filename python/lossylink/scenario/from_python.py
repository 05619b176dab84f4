"""Settings as Python has them: dotted or nested, with bare numbers in SI units.

A file or a command line has to write units, because nobody sees there which one was meant. In Python a number
for a rate is in bits per second, one for a time in seconds, one for a length in metres.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from lossylink.errors import UserError
from lossylink.scenario.models import SECTIONS
from lossylink.scenario.section import Key, keys_in
from lossylink.units import parse_length, parse_rate, parse_time

#: Units that are written for a bare number, largest first, each with its size in the last one.
_UNITS = {
    "rate": {"Tbps": 10**12, "Gbps": 10**9, "Mbps": 10**6, "kbps": 10**3, "bps": 1},
    "time": {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1},
    "length": {"km": 10**5, "m": 100, "cm": 1},
}
#: How many of the last unit are one SI unit.
_PER_SI = {"rate": 1, "time": 10**12, "length": 100}
#: A text of each and what reading it gives, to tell a key's quantity by how its reader takes it.
_PROBES = {"rate": ("7bps", parse_rate("7bps")), "time": ("7ps", parse_time("7ps"))}
_PROBES |= {"length": ("7cm", parse_length("7cm"))}


def spelled(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return settings with dotted keys, in which numbers for rates, times and lengths have their units.

    Raises
    ------
    UserError
        A key is set twice, once nested and once dotted.

    Examples
    --------
    >>> spelled({"link": {"rate": 400e9, "length": 20}, "path.rtt": 30e-6, "flow.trials": 100})
    {'link.rate': '400Gbps', 'link.length': '20m', 'path.rtt': '30us', 'flow.trials': 100}
    """
    found: dict[str, Any] = {}
    for key, value in _flat(settings or {}, ""):
        if key in found:
            raise UserError(f"'{key}' is set twice")
        found[key] = spell(key, value)
    return found


def _flat(settings: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        name = f"{above}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


def spell(key: str, value: Any) -> Any:
    """Return one value with its unit when it is a number that needs one, or a list of such.

    Examples
    --------
    >>> spell("run.duration", 0.07), spell("run.duration", "70ms"), spell("grid.rtt", [0.003, "6ms"])
    ('70ms', '70ms', ['3ms', '6ms'])
    """
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [spell(key, one) for one in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    quantity = _quantity(key)
    if quantity is None:
        return value
    if not math.isfinite(value):
        return value  # what reads it says what is wrong
    return _with_unit(round(Decimal(repr(value)) * _PER_SI[quantity]), _UNITS[quantity])


def _with_unit(number: int, units: Mapping[str, int]) -> str:
    """Write a whole number of the smallest unit in the largest one that it reaches, exactly."""
    unit, size = next(((unit, size) for unit, size in units.items() if abs(number) >= size), ("", 0))
    if not unit:
        return f"0{list(units)[-1]}"
    return f"{(Decimal(number) / size).normalize():f}{unit}"


def _quantity(key: str) -> str | None:
    """Return whether a key is a rate, a time or a length; nothing for others, and for unknown keys."""
    section, dot, leaf = key.rpartition(".")
    models = [model for name, model in SECTIONS.items() if not dot or name == section]
    keys = [keys_in(model)[leaf] for model in models if leaf in keys_in(model)]
    # A key without its section stands for whichever the experiment has: they must agree.
    found = {next(_quantities(one), None) for one in keys}
    return found.pop() if len(found) == 1 else None


def _quantities(key: Key) -> Iterator[str]:
    for name, (text, value) in _PROBES.items():
        try:
            if key.read(text) in (value, [value]):  # an axis has several
                yield name
        except ValueError:
            continue
