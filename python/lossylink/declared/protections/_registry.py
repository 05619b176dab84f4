"""The families, found rather than listed: every module of the package without a leading underscore is one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

from lossylink._package.discovery import modules_in
from lossylink.declared.protections._family import Family, Look, Option, Spelling
from lossylink.errors import UserError, unknown


@cache
def families() -> tuple[Family, ...]:
    """Return every family, in the order in which they are listed everywhere.

    Examples
    --------
    >>> families()[0].tag
    'none'
    """
    found: list[Family] = [module.FAMILY for module in modules_in(sys.modules[str(__package__)])]
    return tuple(sorted(found, key=lambda family: (family.order, family.tag)))


def spellings() -> Iterator[tuple[Family, Spelling]]:
    """Yield every spelling with its family."""
    for family in families():
        for spelling in family.spellings:
            yield family, spelling


def find(word: str) -> tuple[Family, Spelling]:
    """Return the family and the spelling of the word at the beginning of a protection.

    Raises
    ------
    UserError
        There is none; one line names the nearest.

    Examples
    --------
    >>> find("lg-nb")[0].tag
    'linkguardian'
    """
    known = {spelling.word: (family, spelling) for family, spelling in spellings()}
    wanted = word.strip().lower()
    if "=" in wanted:
        raise UserError(
            f"'{word.strip()}' has an option outside a protection; options follow a colon, as in"
            r" 'lg:copies=3,tail=off', whose comma a list of --grid needs as '\,' inside quotes"
        )
    if "," in wanted:
        each = [part.strip() for part in word.split(",") if part.strip()]
        raise UserError(
            f"'{word.strip()}' names {len(each)} protections; write one at a time:"
            f" {' '.join(f'-p {one}' for one in each)}, and a list in a file"
        )
    if wanted not in known:
        raise unknown("protection", word.strip(), known, also=_also())
    return known[wanted]


def _also() -> dict[str, str]:
    """Return the words of spellings by their names for readers, and by what else they are called."""
    names = {spelling.name: spelling.word for _, spelling in reversed([*spellings()])}
    return names | {name: spelling.word for _, spelling in spellings() for name in spelling.also}


def tagged(tag: str) -> Family:
    """Return the family of a value's member ``family``.

    Raises
    ------
    UserError
        There is none.
    """
    for family in families():
        if family.tag == tag:
            return family
    raise unknown("family of protections", tag, [family.tag for family in families()])


def family_of(label: str) -> Family:
    """Return the family of a label, such as a guard reports it.

    Examples
    --------
    >>> family_of("fec:25/5").tag
    'fec'
    """
    return find(label.partition(":")[0])[0]


def takes_option(label: str, name: str) -> bool:
    """Whether the protection of a label has an option of this name.

    Examples
    --------
    >>> takes_option("lg:order=off", "copies"), takes_option("fec:25/5", "copies")
    (True, False)
    """
    return find(label.partition(":")[0])[1].option(name) is not None


def usages(*, live: bool = False) -> str:
    """Return every spelling for a help text; with ``live`` those that the data plane has.

    Examples
    --------
    >>> usages(live=True).split(", ")[:3]
    ['none', 'lg', 'lg-nb']
    """
    return ", ".join(spelling.usage for family, spelling in spellings() if family.is_live or not live)


def name_of(label: str) -> str:
    """Return the name that a reader knows a protection by; what is no protection keeps its label.

    Examples
    --------
    >>> name_of("lg-nb"), name_of("fec:25/5"), name_of("lg:tail=off"), name_of("else")
    ('LinkGuardian NB', 'FEC (25,5)', 'LinkGuardian, tail=off', 'else')
    """
    word, _, rest = label.partition(":")
    try:
        _, spelling = find(word)
    except UserError:
        return label
    return spelling.title(rest)


def look_of(label: str) -> Look:
    """Return how a protection is drawn: its word alone has a look, and the variants that its family names.

    Examples
    --------
    >>> look_of("lg").slot, look_of("lg:tail=off").slot, look_of("lg:copies=2").slot
    ('blue', 'sky', None)
    """
    word, colon, rest = label.partition(":")
    for _, spelling in spellings():
        if spelling.word == word:
            return spelling.variants.get(rest, Look()) if colon else spelling.look
    return Look()


def for_copies(copies: int, control_copies: int = 1) -> str:
    """Return the spelling that a monitor's decision asks for; no copies are no protection.

    Examples
    --------
    >>> for_copies(0), for_copies(2), for_copies(2, 3)
    ('none', 'lg:copies=2', 'lg:copies=2,control_copies=3')
    """
    for family in families():
        if copies and (text := family.for_copies(copies, control_copies)):
            return text
    return "none"


def common_options() -> dict[str, Option]:
    """Return the options of the section ``[protection]``, by name, as the first family describes each."""
    found: dict[str, Option] = {}
    for _, spelling in spellings():
        for option in spelling.options:
            if option.common:
                found.setdefault(option.name, option)
    return found


def read_common(name: str, value: object) -> Any:
    """Read an option of the section as the first family does that understands what was written.

    Raises
    ------
    ValueError
        None does; the message is the first family's.

    Examples
    --------
    >>> read_common("flush", "off") is None
    True
    """
    readers = [option.read for _, spelling in spellings() if (option := spelling.option(name))]
    problems = []
    for read in readers:
        try:
            return read(value)
        except ValueError as error:
            problems.append(error)
    raise problems[0]
