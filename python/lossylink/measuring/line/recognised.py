"""Which tool a text of gauges is of, and which line of it is asked for."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Final

from lossylink._package import compressed
from lossylink.errors import UserError
from lossylink.measuring.line import ethtool, mlxlink, sonic, table
from lossylink.measuring.line.gauges import Gauges

MOST_BYTES: Final = 64 * 1024 * 1024
"""Longest text that is read: years of readings of one line."""

_TOOLS: Final[tuple[ModuleType, ...]] = (mlxlink, sonic, ethtool, table)


def read_gauges(path: Path, *, port: str | None = None) -> Gauges:
    """Return the gauges of a line from what a tool printed.

    Parameters
    ----------
    path
        A file, compressed or not, or ``-`` for standard input.
    port
        The line, where the text has many.

    Raises
    ------
    UserError
        The file cannot be read, is of no tool that is known, or has many lines and none was asked for.
    """
    text = compressed.read_text(path, most_bytes=MOST_BYTES, what="the text of gauges")
    return _chosen(_found(text, str(path)), port, str(path))


def _found(text: str, name: str) -> dict[str, Gauges]:
    for tool in _TOOLS:
        if tool.recognises(text):
            found: dict[str, Gauges] = tool.read(text, name)
            return found
    raise UserError(
        f"{name}: no gauges here; give what ethtool -S, ethtool -I --show-fec, mlxlink -c, SONiC's fec-stats "
        "or fec-histogram printed, or CSV with the headers bin,count"
    )


def _chosen(found: dict[str, Gauges], port: str | None, name: str) -> Gauges:
    if port is not None and port in found:
        return found[port]
    named = [one for one in found if one]
    if port is not None and named:
        raise UserError(f"{name}: there is no {port}; it has {_some(named)}")
    if len(found) > 1:
        raise UserError(f"{name} has {len(found)} lines: add --port, one of {_some(named)}")
    return next(iter(found.values()))


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
