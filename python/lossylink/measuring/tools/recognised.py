"""Which tool a text is of, and the findings that it makes."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from lossylink.measuring.tools import iperf3, qdisc, sockets
from lossylink.measuring.tools.reading import Reading

MOST_BYTES: Final = 64 * 1024 * 1024
"""Longest text of a tool that is read: a week of iperf3's intervals."""

_TOOLS: Final[tuple[ModuleType, ...]] = (iperf3, qdisc, sockets)


def readings(text: str, name: str) -> list[Reading] | None:
    """Return what a text of iperf3, tc or ss says, busiest first; nothing where it is of none of them.

    Raises
    ------
    UserError
        The text is of such a tool and tells no losses; one line says why.
    """
    for tool in _TOOLS:
        if tool.recognises(text):
            found: list[Reading] = tool.read(text, name)
            return sorted(found, key=lambda reading: -reading.sent)
    return None
