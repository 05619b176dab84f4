"""Writes a resolved scenario as TOML, so that a reader can copy it out of the report and run it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(scenario: Mapping[str, Any]) -> str:
    """TOML text of nested mappings of scalars and lists; absent values (none) are left out.

    Examples
    --------
    >>> print(to_toml({"seed": 1, "link": {"rate": "100Gbps", "mtu": 1500}}), end="")
    seed = 1
    <BLANKLINE>
    [link]
    rate = "100Gbps"
    mtu = 1500
    """
    return "\n".join(_table_lines(scenario, ())).lstrip("\n") + "\n"


def _table_lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    plain = {
        key: value for key, value in table.items() if not isinstance(value, Mapping) and value is not None
    }
    nested = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    if path and lines:
        lines = ["", f"[{'.'.join(_key(part) for part in path)}]", *lines]
    for key, value in nested.items():
        lines += _table_lines(value, (*path, key))
    return lines


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    return str(value)
