"""Protections as users write them: ``none``, ``lg``, ``lg-nb``, ``fec:K/H``, and their options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from lossylink.errors import UserError, unknown
from lossylink.units import parse_positive_time, parse_switch, parse_time

Kind = Literal["none", "lg", "lg-nb", "fec", "fec-model"]

#: Bounds of the code: one byte of packet index, and parity that a switch can still queue.
MAX_FEC_K, MAX_FEC_H = 128, 32
#: Bounds of LinkGuardian's knobs: a multicast group, a queue that refills itself, an 8-bit hole size.
MAX_COPIES, MAX_DUMMIES, MAX_HOLES = 16, 255, 255
#: Consecutive losses that the published sender can mark.
PUBLISHED_HOLES = 5

_LINKGUARDIAN: frozenset[str] = frozenset(
    {"backpressure", "copies", "deduplicate", "dummies", "holes", "order", "tail"}
)
#: Options of the codes, and the field of `Protection` that holds each.
_CODE_FIELDS = {
    "release": "fec_release",
    "flush": "fec_flush_ps",
    "meter": "fec_meter",
    "priority": "fec_priority",
    "change": "fec_change",
}
_OPTIONS: dict[str, frozenset[str]] = {
    "none": frozenset(),
    "lg": _LINKGUARDIAN,
    "lg-nb": _LINKGUARDIAN - {"order", "backpressure"},
    "fec": frozenset(_CODE_FIELDS),
    # The model's decoder knows one block at a time: data that pass its parity would end it.
    "fec-model": frozenset(_CODE_FIELDS) - {"release", "priority"},
}
#: Options whose value is one of a few words.
_CHOICES = {
    "release": ("eager", "in-order"),
    "meter": ("off", "police", "mark"),
    "priority": ("off", "data"),
}
_BOUNDS = {"copies": (1, MAX_COPIES), "dummies": (0, MAX_DUMMIES), "holes": (1, MAX_HOLES)}
_CODE = r"([0-9]{1,9})/([0-9]{1,9})"
_CODE_KEYS = frozenset(_CODE_FIELDS.values())
_SPELLINGS = "none, lg, lg-nb, fec:K/H, fec-model:K/H"


class CodeChange(BaseModel):
    """A new code that takes effect at the first block boundary after ``at_ps``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at_ps: int
    k: int
    h: int


class Protection(BaseModel):
    """One protection with every option decided, except what the link decides for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str
    """The user's spelling, which names the row."""
    kind: Kind
    copies: int | None = None
    """Copies of a retransmission; ``None`` follows the rule for N from the loss ratio."""
    dummies: int | None = None
    """Dummies after each data packet; ``None`` takes the switch profile's."""
    holes: int | None = PUBLISHED_HOLES
    """Longest run of losses that is requested; ``None`` is unlimited."""
    tail: bool = True
    order: bool = True
    backpressure: bool = True
    deduplicate: bool = True
    fec_k: int | None = None
    fec_h: int | None = None
    fec_release: Literal["eager", "in-order"] | None = None
    """Whether intact packets leave at once or wait behind a hole; ``None`` is eager."""
    fec_flush_ps: int | None = None
    """When a partial block is closed; ``None`` is four full blocks at line rate, and never in the model."""
    fec_meter: Literal["off", "police", "mark"] | None = None
    """What a meter before the encoder does beyond the rate that the code leaves; ``None`` is off."""
    fec_priority: Literal["off", "data"] | None = None
    """Whether data pass parity in the queue; ``None`` is off."""
    fec_change: CodeChange | None = None

    def native(self, *, dummy_count: int) -> dict[str, Any]:
        """Return the simulator's words for it; ``dummy_count`` is the switch profile's."""
        words = self.model_dump(exclude={"label"})
        words = {key: word for key, word in words.items() if word is not None or key not in _CODE_KEYS}
        words["dummies"] = dummy_count if self.dummies is None else self.dummies
        return words


def parse_protection(text: str, common: Mapping[str, Any] | None = None) -> Protection:
    """Read a protection; ``common`` holds options for every protection that takes them, its own options win.

    Examples
    --------
    >>> parse_protection("lg:copies=3,tail=off").copies
    3
    >>> parse_protection("fec:25/5,release=in-order,flush=200us").fec_flush_ps
    200000000
    >>> parse_protection("lq")
    Traceback (most recent call last):
    lossylink.errors.UserError: unknown protection 'lq'; did you mean 'lg'? ...
    """
    if not isinstance(text, str):
        raise UserError(f"{text!r} is not a protection; valid: {_SPELLINGS}")
    name, _, rest = text.strip().partition(":")
    kind = name.strip().lower()
    if kind not in _OPTIONS:
        raise unknown("protection", name, _OPTIONS)
    code, words = _split_code(text, kind, [part.strip() for part in rest.split(",") if part.strip()])
    options = {key: value for key, value in (common or {}).items() if key in _OPTIONS[kind]}
    options |= dict(_option(text, kind, word) for word in words)
    options = {_CODE_FIELDS.get(key, key): value for key, value in options.items()}
    if kind == "lg-nb":
        options |= {"order": False, "backpressure": False}
    return Protection.model_validate({"label": text.strip(), "kind": kind} | code | options)


def parse_option(name: str, value: object) -> int | bool | str | CodeChange | None:
    """Read the value of one option: a count, a time, one of a few words, or on/off."""
    if name in _CHOICES:
        return _choice(name, value)
    if name == "flush":
        return None if str(value).strip().lower() in {"auto", "off"} else parse_positive_time(value)
    if name == "change":
        return _change(str(value))
    if name not in _BOUNDS:
        return parse_switch(value)
    word = str(value).strip().lower()
    if (name, word) in {("copies", "auto"), ("dummies", "auto"), ("holes", "unlimited")}:
        return None
    low, high = _BOUNDS[name]
    if not re.fullmatch(r"[0-9]{1,9}", word) or not low <= int(word) <= high:
        or_word = " or unlimited" if name == "holes" else " or auto"
        raise ValueError(f"{name} '{value}' is not a whole number from {low} to {high}{or_word}")
    return int(word)


def _choice(name: str, value: object) -> str:
    # A bare word `off` in a TOML file may come as the boolean.
    word = "off" if value is False else str(value).strip().lower()
    if word not in _CHOICES[name]:
        raise ValueError(f"{name} '{value}' is none of {', '.join(_CHOICES[name])}")
    return word


def _change(text: str) -> CodeChange:
    code, at, when = (side.strip() for side in text.partition("@"))
    match = re.fullmatch(_CODE, code)
    if match is None or not at:
        raise ValueError(f"change '{text}' is no code and time; write change=5/5@2s")
    k, h = _checked_code(int(match[1]), int(match[2]))
    return CodeChange(at_ps=parse_time(when), k=k, h=h)


def _option(text: str, kind: str, word: str) -> tuple[str, int | bool | str | CodeChange | None]:
    key, equals, value = (side.strip() for side in word.partition("="))
    if key not in _OPTIONS[kind]:
        if not _OPTIONS[kind]:
            raise UserError(f"protection '{text}': {kind} takes no option '{key}'")
        raise unknown(f"option of {kind}", key, _OPTIONS[kind], where=f"protection '{text}'")
    if not equals:
        raise UserError(f"protection '{text}': write {key}=VALUE")
    if (kind, key, value.lower()) == ("fec", "flush", "off"):
        raise UserError(f"protection '{text}': fec always closes its blocks; flush=off is for fec-model")
    try:
        return key, parse_option(key, value)
    except ValueError as error:
        raise UserError(f"protection '{text}': {error}") from None


def _split_code(text: str, kind: str, words: list[str]) -> tuple[dict[str, int], list[str]]:
    """Take the K/H of a code off the front of its options."""
    if kind not in {"fec", "fec-model"}:
        return {}, words
    match = re.fullmatch(_CODE, words[0]) if words else None
    if match is None:
        raise UserError(f"protection '{text}': write {kind}:K/H, for instance {kind}:25/5")
    try:
        k, h = _checked_code(int(match[1]), int(match[2]))
    except ValueError as error:
        raise UserError(f"protection '{text}': {error}") from None
    return {"fec_k": k, "fec_h": h}, words[1:]


def _checked_code(k: int, h: int) -> tuple[int, int]:
    if not 1 <= k <= MAX_FEC_K:
        raise ValueError(f"a block holds 1 to {MAX_FEC_K} data packets, not {k}")
    if h > MAX_FEC_H:
        raise ValueError(f"a block holds at most {MAX_FEC_H} parity packets, not {h}")
    return k, h
