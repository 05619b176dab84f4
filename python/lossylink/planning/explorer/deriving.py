"""Rules found by asking a resolver: what each state of the knobs changes in the configuration.

Each part of the knobs has patches of its own. Where two or three parts at once give another configuration
than their patches one after another, a rule for them together follows. A number is tried at two values, which
give its factor, and checked at others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from msgspec import Struct

from lossylink.planning.explorer.filling import filled, holes_in, with_numbers, with_words
from lossylink.planning.explorer.knobs import Choice, Knob, Number, State, When, is_met
from lossylink.planning.explorer.merging import difference, is_hole, merged

Resolve = Callable[[Mapping[str, str]], dict[str, Any]]
"""Gives the configuration of settings, without null members."""

_MOST_TOGETHER: Final = 3
"""Parts that one rule is of; a fourth that interacts would fail the check."""
_CHECKS: Final = 3
"""Further values of each number at which its factor is checked."""


class Saying(Struct, frozen=True, kw_only=True):
    """What a scenario says where knobs have some values; its texts have the knobs in braces."""

    settings: Mapping[str, str]
    when: When = {}


class Part(Struct, frozen=True, kw_only=True):
    """Knobs that are said together."""

    knobs: tuple[Knob, ...]
    sayings: tuple[Saying, ...]

    def settings(self, state: State) -> dict[str, str]:
        """Return the settings of a state, with holes."""
        found: dict[str, str] = {}
        for saying in self.sayings:
            if is_met(saying.when, state):
                found |= saying.settings
        return found


class WrongRuleError(Exception):
    """A rule that was found does not hold everywhere: the catalogue would be wrong."""


def shown(knobs: Sequence[Knob], state: State) -> dict[str, str | float]:
    """Return a state without the knobs that it hides."""
    return {knob.id: state[knob.id] for knob in knobs if is_met(knob.when, state)}


def derive(
    parts: Sequence[Part], resolve: Resolve, *, only: When
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the configuration of all defaults, and the rules that make any other of it.

    Parameters
    ----------
    parts
        The knobs, in the order of their rules.
    resolve
        Gives the configuration of settings.
    only
        Values to which choices are restricted.

    Raises
    ------
    WrongRuleError
        No rule of this kind describes what the resolver does.
    """
    return _Derivation(parts, resolve, only).found()


class _Derivation:
    """The rules of some parts, as they are found."""

    def __init__(self, parts: Sequence[Part], resolve: Resolve, only: When) -> None:
        self.parts = parts
        self.resolve = resolve
        self.only = only
        self.knobs = [knob for part in parts for knob in part.knobs]
        self.numbers = {knob.id: knob for knob in self.knobs if isinstance(knob, Number)}
        self.defaults = {knob.id: knob.default for knob in self.knobs} | {
            knob: values[0] for knob, values in only.items() if _default(self.knobs, knob) not in values
        }
        self.spoken: dict[str, str] = {}
        self.base: dict[str, Any] = {}
        self.patches: list[tuple[frozenset[int], dict[str, str], dict[str, Any]]] = []

    def found(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        for part in self.parts:
            self.spoken |= part.settings(self.defaults)
        self.base = self._at(self.spoken, self.defaults)
        interacting: set[frozenset[int]] = set()
        for size in range(1, _MOST_TOGETHER + 1):
            for together in combinations(range(len(self.parts)), size):
                pairs = [frozenset(pair) for pair in combinations(together, 2)]
                if size > 2 and sum(pair in interacting for pair in pairs) < size - 1:
                    continue
                if self._add(frozenset(together)):
                    interacting.add(frozenset(together))
        said = [
            ({"when": _lists(saying.when)} if saying.when else {}) | {"settings": dict(saying.settings)}
            for part in self.parts
            for saying in part.sayings
        ]
        return self.base, [*said, *_joined(when_patch for _, *when_patch in self.patches)]

    def _add(self, together: frozenset[int]) -> bool:
        """Add the patches of some parts at once; tell whether there are any."""
        parts = [self.parts[place] for place in sorted(together)]
        before = len(self.patches)
        for state in self._states([knob for part in parts for knob in part.knobs]):
            if any(not part.settings(state) for part in parts):
                continue
            wanted = self._symbolic(
                {key: text for part in parts for key, text in part.settings(state).items()}, state
            )
            so_far = self.base
            for places, when, patch in self.patches:
                if places <= together and all(state.get(knob) == value for knob, value in when.items()):
                    so_far = merged(so_far, patch)
            if patch := difference(so_far, wanted):
                self.patches.append((together, state, patch))
        return len(self.patches) > before

    def _states(self, knobs: Sequence[Knob]) -> Iterator[dict[str, str]]:
        """Yield the values of choices that these knobs can have, without hidden ones."""
        states: list[dict[str, str]] = [{}]
        for knob in knobs:
            if isinstance(knob, Choice):
                values = self.only.get(knob.id, tuple(knob.choices))
                states = [
                    grown
                    for state in states
                    for grown in (
                        [{**state, knob.id: value} for value in values]
                        if is_met(knob.when, state)
                        else [state]
                    )
                ]
        yield from states

    def _symbolic(self, settings: Mapping[str, str], choices: Mapping[str, str]) -> Any:
        """Return the configuration of settings with holes where it follows a number of theirs."""
        names = [name for text in settings.values() for name in holes_in(text) if name in self.numbers]
        numbers = [self.numbers[name] for name in dict.fromkeys(names)]
        start = {knob.id: _samples(knob)[0] for knob in numbers}
        first = self._configured(settings, choices, start)
        result = first
        for knob in numbers:
            other = {**start, knob.id: _samples(knob)[1]}
            second = self._configured(settings, choices, other)
            result = _with_holes(result, first, second, knob, start[knob.id], other[knob.id])
        for place in range(2, 2 + _CHECKS if numbers else 2):
            values = {knob.id: _samples(knob)[place] for knob in numbers}
            told, right = with_numbers(result, values), self._configured(settings, choices, values)
            if told != right:
                raise WrongRuleError(
                    f"{dict(settings)} at {values}: {difference(told, right)} is no multiple"
                )
        return result

    def _configured(
        self, settings: Mapping[str, str], choices: Mapping[str, str], numbers: Mapping[str, float]
    ) -> dict[str, Any]:
        return self._at({**self.spoken, **settings}, {**self.defaults, **choices, **numbers})

    def _at(self, settings: Mapping[str, str], state: State) -> dict[str, Any]:
        return self.resolve({key: with_words(text, state) for key, text in settings.items()})


def check(
    parts: Sequence[Part],
    resolve: Resolve,
    base: Mapping[str, Any],
    rules: Sequence[Mapping[str, Any]],
    *,
    only: When,
    states: int,
) -> None:
    """Compare the rules with the resolver at random states of all knobs.

    Raises
    ------
    WrongRuleError
        They differ; the message has the state and the difference.
    """
    draw = random.Random(1)
    knobs = [knob for part in parts for knob in part.knobs]
    for _ in range(states):
        state = shown(knobs, drawn_state(knobs, draw, only=only))
        said = {key: with_words(text, state) for part in parts for key, text in part.settings(state).items()}
        told, right = filled(base, rules, state), resolve(said)
        if told != right:
            raise WrongRuleError(f"at {state} the rules miss {difference(told, right)}")


def drawn_state(knobs: Sequence[Knob], draw: random.Random, *, only: When) -> dict[str, str | float]:
    """Return a random state."""
    return {
        knob.id: draw.choice(only.get(knob.id, tuple(knob.choices)))
        if isinstance(knob, Choice)
        else _between(knob, draw.random())
        for knob in knobs
    }


def _samples(knob: Number) -> tuple[float, ...]:
    """Two values from which a factor is found, and others at which it is checked."""
    return (*(_between(knob, share) for share in (0.31, 0.83, 0.57)), knob.least, knob.most)


def _between(knob: Number, share: float) -> float:
    if knob.scale == "log":
        value = knob.least * (knob.most / knob.least) ** share
    else:
        value = knob.least + share * (knob.most - knob.least)
    return float(round(value)) if knob.whole else float(f"{value:.4g}")


def _default(knobs: Sequence[Knob], name: str) -> str | float:
    return next(knob.default for knob in knobs if knob.id == name)


def _with_holes(result: Any, first: Any, second: Any, knob: Number, low: float, high: float) -> Any:
    """Return JSON with holes in place of what differs between two values of a number."""
    if first == second:
        return result
    if isinstance(first, Mapping) and isinstance(second, Mapping) and first.keys() == second.keys():
        return {key: _with_holes(result[key], first[key], second[key], knob, low, high) for key in first}
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = zip(result, first, second, strict=True)
        return [_with_holes(inner, one, other, knob, low, high) for inner, one, other in pairs]
    if is_hole(result) or not (isinstance(first, (int, float)) and isinstance(second, (int, float))):
        raise WrongRuleError(f"{knob.id}: {first!r} becomes {second!r}, which no factor gives")
    return _hole(knob, (low, first), (high, second))


def _hole(knob: Number, low: tuple[float, float], high: tuple[float, float]) -> dict[str, Any]:
    """Return the hole of a number, from two values of it with what the configuration has for them."""
    slope = (high[1] - low[1]) / (high[0] - low[0])
    times: float = float(f"{slope:.12g}")
    if times.is_integer():
        times = int(times)
    hole: dict[str, Any] = {"$": knob.id, "times": times}
    if isinstance(low[1], int):
        hole["whole"] = True
    rest = low[1] - with_numbers(hole, {knob.id: low[0]})
    return hole | ({"plus": rest} if rest else {})


def _joined(patches: Iterator[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rules of patches; neighbours with one patch, and one value that differs, are one rule."""
    last: tuple[dict[str, list[str]], Any] | None = None
    for when, patch in patches:
        if last is not None and last[1] == patch and (joint := _union(last[0], when)) is not None:
            last = joint, patch
            continue
        if last is not None:
            yield _rule(*last)
        last = {knob: [value] for knob, value in when.items()}, patch
    if last is not None:
        yield _rule(*last)


def _union(when: Mapping[str, list[str]], more: Mapping[str, str]) -> dict[str, list[str]] | None:
    different = [knob for knob in when if when[knob] != [more.get(knob)]]
    if when.keys() != more.keys() or len(different) != 1:
        return None
    return {**when, different[0]: [*when[different[0]], more[different[0]]]}


def _rule(when: Mapping[str, list[str]], patch: Any) -> dict[str, Any]:
    return ({"when": dict(when)} if when else {}) | {"patch": patch}


def _lists(when: When) -> dict[str, list[str]]:
    return {knob: list(values) for knob, values in when.items()}
