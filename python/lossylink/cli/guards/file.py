"""Lets the configuration file of guards stand behind the options of ``lossylink guard``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lossylink.linux.service.config import read_guard, require_name

#: Options that say where the others are.
_FINDING = ("config", "name")
#: The type of each kind of option, by the name of the kind.
_KINDS = {"int": int, "boolean": bool, "path": Path, "str": str}


def take(context: click.Context, param: click.Parameter, value: Any) -> Any:
    """Let the file that ``--config`` names stand behind the command line, once ``--name`` is known as well.

    Both options are read before all others, in the order in which the user gives them.
    """
    if context.resilient_parsing:
        return value  # a shell completes words
    found = context.meta.setdefault(__name__, {})
    found[param.name] = value
    if found.get("name") is not None:
        require_name(found["name"])
    if found.keys() == set(_FINDING) and found["config"] is not None:
        parameters = [one for one in context.command.params if one.name not in _FINDING]
        options = {one.name: _KINDS[one.type.name] for one in parameters}
        context.default_map = read_guard(found["config"], found["name"], options)
    return value
