"""A protection with every option decided, and how it is read from what users write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from lossylink import _native
from lossylink.declared.protections._family import Family, Spelling
from lossylink.declared.protections._registry import find, spellings, tagged, usages
from lossylink.errors import UserError, unknown


class Protection(NamedTuple):
    """One protection: what the user called it, and the value that simulator and data plane share."""

    label: str
    """The user's spelling, which names the row."""
    value: dict[str, Any]
    """The JSON object of ``core::protection::Protection``; ``None`` in it is what the link decides."""

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Protection:
        """Return the protection of a value, called by its shortest spelling.

        Examples
        --------
        >>> Protection.of({"family": "fec", "k": 25, "h": 5}).label
        'fec:25/5'
        """
        return cls(tagged(value["family"]).spell(value), dict(value))

    @property
    def family(self) -> Family:
        """The family, which knows everything that is particular to the protection."""
        return tagged(self.value["family"])

    @property
    def live_value(self) -> dict[str, Any] | None:
        """The value as the live data plane takes it: nothing for a bare link."""
        return self.value if self.family.protects else None

    def check(self, *, live: bool = False) -> None:
        """Let the core refuse what is out of range and, ``live``, what only the simulator has.

        Raises
        ------
        UserError
            One line that says what is wrong.
        """
        try:
            _native.check_protection(json.dumps(self.value), live)
        except ValueError as error:
            raise UserError(f"protection '{self.label}': {error}") from None


def parse_protection(text: str, common: Mapping[str, Any] | None = None) -> Protection:
    """Read a protection; ``common`` holds options for every protection that takes them, its own options win.

    Raises
    ------
    UserError
        One line that says what is wrong and the mend.

    Examples
    --------
    >>> parse_protection("lg:copies=3,tail=off").value["copies"]
    3
    >>> parse_protection("fec:25/5,release=in-order,flush=200us").value["flush_ps"]
    200000000
    >>> parse_protection("none:tail=off")
    Traceback (most recent call last):
    lossylink.errors.UserError: protection 'none:tail=off': none takes no option 'tail'; lg and lg-nb have it
    """
    if not isinstance(text, str):
        raise UserError(f"{text!r} is not a protection; valid: {usages()}")
    word, _, rest = text.strip().partition(":")
    family, spelling = find(word)
    parts = [part.strip() for part in rest.split(",") if part.strip()]
    argument = _argument(text, spelling, parts)
    options = {option.name: option.default for option in spelling.options}
    options |= {name: value for name, value in (common or {}).items() if name in options}
    options |= dict(_option(text, spelling, part) for part in parts)
    protection = Protection(text.strip(), family.value(spelling, argument, options))
    protection.check()
    return protection


def keeps_order(label: str) -> bool:
    """Whether frames leave a link under this protection in the order in which they entered it.

    Examples
    --------
    >>> [keeps_order(label) for label in ("lg:copies=2", "lg-nb", "llr", "fec:25/5")]
    [True, False, True, False]
    """
    protection = parse_protection(label)
    return protection.family.keeps_order(protection.value)


def _argument(text: str, spelling: Spelling, parts: list[str]) -> dict[str, Any]:
    """Take what must follow the colon off the front of the options."""
    if spelling.argument is None:
        return {}
    try:
        return spelling.argument.read(parts.pop(0) if parts else "")
    except ValueError:
        example = f"{spelling.word}:{spelling.argument.example}"
        raise UserError(f"protection '{text}': write {spelling.usage}, for instance {example}") from None


def _option(text: str, spelling: Spelling, part: str) -> tuple[str, Any]:
    name, equals, value = (side.strip() for side in part.partition("="))
    option = spelling.option(name)
    if option is None:
        raise _no_such_option(text, spelling, name)
    if not equals:
        raise UserError(f"protection '{text}': write {name}=VALUE")
    try:
        return name, option.read(value)
    except ValueError as error:
        raise UserError(f"protection '{text}': {error}") from None


def _no_such_option(text: str, spelling: Spelling, name: str) -> UserError:
    """Say who has the option, or which one may have been meant."""
    owners = [other.word for _, other in spellings() if other.option(name)]
    if not owners and spelling.options:
        known = [option.name for option in spelling.options]
        return unknown(f"option of {spelling.word}", name, known, where=f"protection '{text}'")
    message = f"protection '{text}': {spelling.word} takes no option '{name}'"
    if owners:
        have = "has" if len(owners) == 1 else "have"
        message += f"; {' and '.join(filter(None, (', '.join(owners[:-1]), owners[-1])))} {have} it"
    return UserError(message)
