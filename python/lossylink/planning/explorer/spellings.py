"""The protections that a reader picks, each with knobs for its argument and its options.

The registry says which there are and how each option is written. Ranges are found by asking: a number is in
the range of an option when the protection that has it can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from lossylink.charts.palette import OKABE_ITO, slots_of
from lossylink.declared.protections import Option, Spelling, parse_protection, spellings
from lossylink.planning.explorer.deriving import Part, Resolve, Saying, check, derive
from lossylink.planning.explorer.knobs import Choice, Knob, Number
from lossylink.planning.explorer.merging import without_nulls

SELECTED: Final = ("none", "lg")
"""Protections that are picked when the page opens."""
#: Between the numbers of an argument.
_SEPARATOR: Final = "/"
_CHECKED_STATES: Final = 100
_DIGITS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500)
#: Values in place of the placeholders of options, as many as the core takes.
_LADDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "N": tuple(
        map(str, (*range(11), *(digit * 10**power for power in (1, 2, 3, 4) for digit in (2, 5, 10))))
    ),
    "TIME": tuple(f"{number}{unit}" for unit in ("us", "ms") for number in _DIGITS),
    "SIZE": tuple(f"{number}{unit}" for unit in ("KB", "MB") for number in _DIGITS),
}


def pickable(picked: Sequence[str] = SELECTED) -> list[dict[str, Any]]:
    """Return every spelling of the registry as the page reads it, in the registry's order.

    Parameters
    ----------
    picked
        Labels of protections that are picked when the page opens.
    """
    words = {label.partition(":")[0] for label in picked}
    examples = {spelling.word: _example(spelling) for _, spelling in spellings()}
    slots = slots_of(tuple(examples.values()))
    return [
        _pickable(spelling, OKABE_ITO[slots[examples[spelling.word]]]) | {"selected": spelling.word in words}
        for _, spelling in spellings()
    ]


def _example(spelling: Spelling) -> str:
    return f"{spelling.word}:{spelling.argument.example}" if spelling.argument else spelling.word


def _pickable(spelling: Spelling, colour: str) -> dict[str, Any]:
    argument, options = _argument_knobs(spelling), list(_option_knobs(spelling))
    parts = [Part(knobs=(knob,), sayings=(Saying(settings={knob.id: f"{{{knob.id}}}"}),)) for knob in options]
    if argument:
        text = _SEPARATOR.join(f"{{{knob.id}}}" for knob in argument)
        parts.insert(0, Part(knobs=tuple(argument), sayings=(Saying(settings={"": text}),)))
    resolve = _resolver(spelling)
    value, rules = derive(parts, resolve, only={})
    check(parts, resolve, value, rules, only={}, states=_CHECKED_STATES)
    row: dict[str, Any] = {
        "word": spelling.word,
        "name": spelling.name,
        "meaning": spelling.meaning,
        "colour": colour,
        "value": value,
        "options": [knob.row() for knob in options],
        "rules": [rule for rule in rules if "patch" in rule],
    }
    if spelling.argument is not None:
        knobs = [knob.row() for knob in argument]
        row["argument"] = {"knobs": knobs, "example": spelling.argument.example, "separator": _SEPARATOR}
    return row


def _resolver(spelling: Spelling) -> Resolve:
    """Return what reads the value of an argument, whose setting has no name, and of options."""

    def resolve(settings: Mapping[str, str]) -> dict[str, Any]:
        parts = [f"{name}={text}" if name else text for name, text in settings.items()]
        value: dict[str, Any] = without_nulls(parse_protection(_text(spelling, parts)).value)
        return value

    return resolve


def _text(spelling: Spelling, parts: list[str]) -> str:
    return f"{spelling.word}:{','.join(parts)}" if parts else spelling.word


def _argument_knobs(spelling: Spelling) -> list[Number]:
    """Return a whole number for each part of what follows the colon, such as the two of ``25/5``."""
    if spelling.argument is None:
        return []
    names = spelling.argument.metavar.split(_SEPARATOR)
    example = spelling.argument.example.split(_SEPARATOR)
    knobs = []
    for place, name in enumerate(names):

        def written(number: int, place: int = place) -> str:
            return _text(spelling, [_SEPARATOR.join([*example[:place], str(number), *example[place + 1 :]])])

        least, most = _range(written, int(example[place]))
        knobs.append(
            Number(
                id=name.lower(),
                label=name,
                meaning=spelling.meaning,
                scale="linear",
                least=least,
                most=most,
                step=1,
                whole=True,
                default=int(example[place]),
            )
        )
    return knobs


def _option_knobs(spelling: Spelling) -> Iterator[Knob]:
    """Yield the knobs of the options; only words, numbers, times and sizes have one."""
    for option in spelling.options:
        forms = option.forms
        if forms == ("N",) or forms == ("SIZE",):
            yield _number_knob(spelling, option)
        elif all(form.islower() or form in _LADDERS for form in forms):
            yield _choice_knob(spelling, option, forms)


def _number_knob(spelling: Spelling, option: Option) -> Number:
    default = int(option.default)
    least, most = _range(partial(_with_option, spelling, option), default)
    return Number(
        id=option.name,
        label=option.name,
        meaning=option.description,
        unit="B" if option.forms == ("SIZE",) else "",
        scale="log" if least and most > 100 * least else "linear",
        least=least,
        most=most,
        whole=True,
        default=default,
    )


def _choice_knob(spelling: Spelling, option: Option, forms: tuple[str, ...]) -> Choice:
    """Return a choice of words, and of numbers, times or sizes of a ladder that the core takes.

    The largest number is there, whatever the ladder.
    """
    written = partial(_with_option, spelling, option)
    values = [form for form in forms if form not in _LADDERS]
    for form in forms:
        values += [value for value in _LADDERS.get(form, ()) if _is_taken(written(value))]
    if "N" in forms and (most := str(_range(written, int(values[-1]))[1])) not in values:
        values.append(most)
    default = next(value for value in values if option.read(value) == option.default)
    return Choice(
        id=option.name,
        label=option.name,
        meaning=option.description,
        choices={value: value for value in values},
        default=default,
    )


def _with_option(spelling: Spelling, option: Option, value: object) -> str:
    argument = [spelling.argument.example] if spelling.argument else []
    return _text(spelling, [*argument, f"{option.name}={value}"])


def _is_taken(text: str) -> bool:
    try:
        parse_protection(text)
    except ValueError:
        return False
    return True


def _range(written: Callable[[int], str], inside: int) -> tuple[int, int]:
    """Return the least and the largest number with which a protection is taken, from one that is."""
    least = next(number for number in range(inside + 1) if _is_taken(written(number)))
    low, high = inside, 2 * inside + 1
    while _is_taken(written(high)):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _is_taken(written(middle)) else (low, middle)
    return least, low
