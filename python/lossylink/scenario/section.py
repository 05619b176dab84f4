"""What the keys of a section are: what each means, and how the text that a user writes becomes a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, get_args

from msgspec import NODEFAULT, Meta, Struct, convert
from msgspec.structs import fields


class Section(Struct, frozen=True, kw_only=True):
    """Base of all sections: immutable. Its values are those that `Key.read` gives."""


def says(meaning: str) -> Meta:
    """Say what a key means, beside its type.

    A function beside the type turns what a user wrote into a value of it. It raises `ValueError` with
    one line that says what is wrong. Where there is none, the type decides alone.
    """
    return Meta(description=meaning)


class Key(Struct, frozen=True):
    """A key of a section."""

    meaning: str
    reader: Callable[[Any], Any] | None
    type: Any
    is_required: bool

    def read(self, value: object) -> Any:
        """Return what a user wrote as a value of the key's type, in base units.

        Raises
        ------
        ValueError
            It is no such value; one line says why.
        """
        if self.reader is not None and not (value is None and self._may_be_nothing()):
            value = self.reader(value)
        return convert(value, self.type, strict=False)

    def _may_be_nothing(self) -> bool:
        return type(None) in get_args(get_args(self.type)[0])


@cache
def keys_in(section: type[Section]) -> Mapping[str, Key]:
    """Return the keys of a section, by name.

    Examples
    --------
    >>> from lossylink.scenario.models import Link
    >>> rate = keys_in(Link)["rate"]
    >>> rate.meaning, rate.is_required, rate.read("25G")
    ('bits per second on the wire', True, 25000000000)
    """
    found = {}
    for field in fields(section):
        said = list(_said(field.type))
        meaning = next(str(one.description) for one in said if isinstance(one, Meta))
        reader = next((one for one in said if not isinstance(one, Meta)), None)
        found[field.name] = Key(meaning, reader, field.type, field.default is NODEFAULT)
    return found


def _said(hint: Any) -> Iterator[Any]:
    """Yield what is said beside a type, however deep in it."""
    yield from getattr(hint, "__metadata__", ())
    for inner in get_args(hint):
        yield from _said(inner)
