"""What the keys of a section are: what each means, and how the text that a user writes becomes a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_args

from msgspec import NODEFAULT, Meta, Struct, convert
from msgspec.structs import fields


class Section(Struct, frozen=True, kw_only=True):
    """Base of all sections: immutable. Its values are those that `Key.read` gives."""


def key(
    meaning: str,
    read: Callable[[Any], Any] | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
) -> Meta:
    """Describe a key, beside its type: what it means, and what turns text into a value of the type.

    ``read`` raises `ValueError` with one line that says what is wrong; without it the type decides alone.
    """
    return Meta(description=meaning, gt=above, lt=below, extra={"read": read})


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
        about: Meta = field.type.__metadata__[0]
        read = (about.extra or {}).get("read")
        found[field.name] = Key(str(about.description), read, field.type, field.default is NODEFAULT)
    return found
