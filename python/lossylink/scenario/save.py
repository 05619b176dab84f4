"""A resolved scenario as a TOML file that runs it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

#: Keys that a resolved scenario adds for its reader, and that no scenario file takes.
_ECHO = frozenset(
    {"forward_ratio", "forward_percent", "reverse_ratio", "reverse_percent"},
)


def scenario_toml(described: Mapping[str, Any]) -> str:
    """Return the text of a scenario file from `Scenario.describe`.

    Examples
    --------
    >>> print(scenario_toml({"experiment": "stress", "link": {"rate": "25G"}, "path": {}}))
    # Resolved by lossylink; `lossylink run` with this file runs the same again.
    experiment = "stress"
    <BLANKLINE>
    [link]
    rate = "25G"
    <BLANKLINE>
    """
    lines = ["# Resolved by lossylink; `lossylink run` with this file runs the same again."]
    lines += [
        f"{key} = {_value(value)}" for key, value in described.items() if not isinstance(value, Mapping)
    ]
    for section, keys in described.items():
        if not isinstance(keys, Mapping) or section == "calibrated":
            continue
        written = [f"{key} = {_value(value)}" for key, value in keys.items() if key not in _ECHO]
        if written:
            lines += ["", f"[{section}]", *written]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """Write a scalar or a list; JSON's spelling of strings, numbers and booleans is also TOML's."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
