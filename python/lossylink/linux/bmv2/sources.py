"""The P4 programs: where they are, and the numbers in them that the control plane needs."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from lossylink._package.resources import P4

#: ``const bit<9> PORT_HOST = 1;``, and the same with a type of our own.
_CONSTANT = re.compile(r"^\s*const\s+(?:bit<\d+>|\w+)\s+(\w+)\s*=\s*(?:\d+w)?(0x[0-9A-Fa-f]+|\d+)\s*;", re.M)


def program(family: str) -> Path:
    """Return the main program of a protection's switches.

    Examples
    --------
    >>> program("linkguardian").name
    'topology.p4'
    """
    return P4 / family / "topology.p4"


def families() -> list[str]:
    """Return the programs that a switch can run, by their folders.

    Examples
    --------
    >>> families()
    ['fec_model', 'linkguardian']
    """
    return sorted(topology.parent.name for topology in P4.glob("*/topology.p4"))


@cache
def constants(family: str) -> dict[str, int]:
    """Return the numeric constants of a program and of what the programs share.

    Examples
    --------
    >>> constants("linkguardian")["PORT_LINK"], constants("linkguardian")["HOLE_CAP"]
    (2, 5)
    """
    files = sorted([*(P4 / "common").glob("*.p4"), *(P4 / family).glob("*.p4")])
    found = (match for file in files for match in _CONSTANT.finditer(file.read_text(encoding="utf-8")))
    return {match[1]: int(match[2], 0) for match in found}


def events(family: str, prefix: str) -> dict[str, int]:
    """Return the events of a counter array by name in lower case: the constants with its prefix.

    Examples
    --------
    >>> events("linkguardian", "SENDER_")["retransmitted"]
    2
    """
    names = {
        name.removeprefix(prefix): value
        for name, value in constants(family).items()
        if name.startswith(prefix)
    }
    names.pop("EVENTS", None)
    return {name.lower(): value for name, value in names.items()}
