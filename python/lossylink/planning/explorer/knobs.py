"""What a reader of the page can move: a choice of words, or a number in a range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

When = Mapping[str, tuple[str, ...]]
"""Values of other knobs, one of which each must have."""


class Choice(Struct, frozen=True, kw_only=True):
    """A knob with a few values."""

    id: str
    label: str
    meaning: str
    choices: Mapping[str, str]
    """The label of each value."""
    default: str
    unit: str = ""
    when: When = {}
    folded: bool = False
    """Whether the page shows it only to who looks for more knobs."""

    def row(self) -> dict[str, Any]:
        """Return the knob as the page reads it."""
        choices = [{"value": value, "label": label} for value, label in self.choices.items()]
        return _head(self) | {"kind": "choice", "choices": choices, "default": self.default}


class Number(Struct, frozen=True, kw_only=True):
    """A knob with a number."""

    id: str
    label: str
    meaning: str
    scale: Literal["log", "linear"]
    least: float
    most: float
    default: float
    step: float | None = None
    """From one value of a linear scale to the next."""
    whole: bool = False
    unit: str = ""
    when: When = {}
    folded: bool = False
    """Whether the page shows it only to who looks for more knobs."""

    def row(self) -> dict[str, Any]:
        """Return the knob as the page reads it."""
        step = {} if self.step is None else {"step": self.step}
        bounds = {"scale": self.scale, "min": self.least, "max": self.most}
        return (
            _head(self) | {"kind": "number"} | bounds | step | {"whole": self.whole, "default": self.default}
        )


Knob = Choice | Number
State = Mapping[str, str | float]
"""The value of each knob."""


def is_met(when: When, state: State) -> bool:
    """Tell whether the knobs have values that a condition asks for.

    Examples
    --------
    >>> is_met({"loss.model": ("phy",)}, {"loss.model": "bursts"})
    False
    """
    return all(state.get(knob) in values for knob, values in when.items())


def words(value: str | float) -> str:
    """Write a knob's value into a setting, a number so that it is read back to the same number.

    Examples
    --------
    >>> words("dctcp"), words(24387.0), words(1e-07)
    ('dctcp', '24387', '1e-07')
    """
    if isinstance(value, str):
        return value
    return str(int(value)) if float(value).is_integer() else repr(value)


def _head(knob: Knob) -> dict[str, Any]:
    head = {"id": knob.id, "label": knob.label, "meaning": knob.meaning, "unit": knob.unit}
    when = {key: list(values) for key, values in knob.when.items()}
    return head | ({"when": when} if when else {}) | ({"folded": True} if knob.folded else {})
