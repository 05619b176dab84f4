"""The configuration file of guards: a table for each, whose keys are the options of ``lossylink guard``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lossylink.errors import UserError, unknown
from lossylink.scenario.load import read_toml

#: A name is part of the names of a socket and of a unit.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}")
#: What a value of each kind of option is in TOML, and what it is called.
_TYPES: dict[type, tuple[type, str]] = {
    int: (int, "a whole number"),
    bool: (bool, "true or false"),
    Path: (str, "a path in quotes"),
    str: (str, "a text in quotes"),
}


def require_name(name: str) -> str:
    """Return a name that is one for a guard.

    Raises
    ------
    UserError
        It is none.
    """
    if not _NAME.fullmatch(name):
        raise UserError(f"'{name}' is no name for a guard: up to 32 letters, digits and . _ -; give --name")
    return name


def read_guard(file: Path, name: str | None, options: Mapping[str, type]) -> dict[str, Any]:
    """Return the options of one guard; of the only one in the file when no name is given.

    Parameters
    ----------
    options
        The type of each option: str, int, bool or Path.

    Raises
    ------
    UserError
        There is no such file or guard, or a key or a value that no guard has.
    """
    tables, _ = read_toml(file)
    for key, value in tables.items():
        if not isinstance(value, dict):
            raise UserError(f"{file}: {key} belongs to no guard; write it below a line [NAME]")
    if name is None:
        if len(tables) != 1:
            which = f"one of {', '.join(sorted(tables))}" if tables else "and a table [NAME] in the file"
            raise UserError(f"{file} has {len(tables)} guards; give --name, {which}")
        (name,) = tables
    if not tables:
        raise UserError(f"{file} has no guards; write a table [{name}] in it")
    if name not in tables:
        raise unknown("guard", name, tables, where=str(file))
    return {key: _value(file, name, key, given, options) for key, given in tables[name].items()}


def _value(file: Path, name: str, key: str, given: object, options: Mapping[str, type]) -> object:
    where = f"{file}: [{name}]"
    if key not in options:
        raise unknown("key", key, options, where=where)
    kind = options[key]
    expected, words = _TYPES[kind]
    if type(given) is not expected:
        raise UserError(f"{where}: {key} = {given!r} is of the wrong type; write {words}")
    # From wherever the guard is started, a path is meant from where it is written.
    return str(file.absolute().parent / str(given)) if kind is Path else given
