"""What rules make of a configuration: the reading of a catalogue that the page has, too."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lossylink.planning.explorer.knobs import State, is_met, words
from lossylink.planning.explorer.merging import is_hole, merged

_HOLE = re.compile(r"\{([^{}]+)\}")


def filled(base: Mapping[str, Any], rules: Sequence[Mapping[str, Any]], state: State) -> Any:
    """Return the configuration of a state: the base, with the patches of the rules that hold, in order.

    Examples
    --------
    >>> rule = {"patch": {"size": {"$": "flow", "times": 1000, "whole": True}}}
    >>> filled({"size": 1, "seed": 1}, [rule], {"flow": 2.5})
    {'size': 2500, 'seed': 1}
    """
    result: Any = base
    for rule in rules:
        if "patch" in rule and is_met(rule.get("when", {}), state):
            result = merged(result, with_numbers(rule["patch"], state))
    return result


def settings_of(rules: Sequence[Mapping[str, Any]], state: State) -> dict[str, str]:
    """Return what ``--set`` says of a state.

    Examples
    --------
    >>> settings_of([{"settings": {"flow.size": "{flow}B"}}], {"flow": 24387})
    {'flow.size': '24387B'}
    """
    found: dict[str, str] = {}
    for rule in rules:
        if is_met(rule.get("when", {}), state):
            found |= {key: with_words(text, state) for key, text in rule.get("settings", {}).items()}
    return found


def with_words(text: str, state: State) -> str:
    """Return a text with the values of knobs in its holes."""
    return _HOLE.sub(lambda hole: words(state[hole[1]]), text)


def holes_in(text: str) -> list[str]:
    """Return the knobs whose values a text has holes for."""
    return _HOLE.findall(text)


def with_numbers(value: Any, state: State) -> Any:
    """Return JSON with the numbers of knobs in its holes.

    Examples
    --------
    >>> with_numbers([{"$": "lost", "times": 1, "plus": 2, "whole": True}], {"lost": 5})
    [7]
    """
    if is_hole(value):
        return _number(value, float(state[value["$"]]))
    if isinstance(value, dict):
        return {key: with_numbers(inner, state) for key, inner in value.items()}
    return [with_numbers(inner, state) for inner in value] if isinstance(value, list) else value


def _number(hole: Mapping[str, Any], value: float) -> float:
    product: float = value * hole["times"]
    rest: float = hole.get("plus", 0)
    if hole.get("whole"):
        # Half away from zero, as the page rounds it; knobs and factors are never negative.
        below = math.floor(product)
        return below + (product - below >= 0.5) + rest
    return product + rest
