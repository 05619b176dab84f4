"""Findings from files: a capture, a loss trace, or what iperf3, ss or tc printed; compressed or not."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Final

from lossylink._package import compressed
from lossylink.declared.job import Progress
from lossylink.measuring.numbered import read_losses
from lossylink.measuring.outcome import Finding
from lossylink.measuring.packets import is_capture
from lossylink.measuring.tools import iperf3, qdisc, sockets
from lossylink.measuring.tools.reading import Reading

MOST_BYTES: Final = 64 * 1024 * 1024
"""Longest text of a tool that is read: a week of iperf3's intervals."""

_TOOLS: Final[tuple[ModuleType, ...]] = (iperf3, qdisc, sockets)
#: A scenario has two directions: the busiest two are taken.
_KEYS = ("forward", "reverse")


def findings_of(path: Path, *, read: Progress, fit: Progress) -> list[Finding]:
    """Return what a file says of each direction, the busiest two.

    Parameters
    ----------
    path
        The file, or ``-`` for standard input.
    read, fit
        Called with the work done and the whole work of reading, and of fitting.

    Raises
    ------
    UserError
        The file cannot be read, or tells no losses; one line says why.
    """
    with compressed.kept(path) as file:
        if not is_capture(file):
            text = compressed.read_text(file, most_bytes=MOST_BYTES, what="the recording")
            if (told := readings(text, str(path))) is not None:
                return [
                    Finding(key, one.title, one.fit(), one.unit, notes=one.notes, lost_word=one.lost_word)
                    for key, one in zip(_KEYS, told, strict=False)
                ]
        busiest = sorted(read_losses(file, read).items(), key=lambda one: -one[1].record.frames)
    return [
        Finding.of(key, name, direction, unit="frames", report=fit)
        for key, (name, direction) in zip(_KEYS, busiest, strict=False)
    ]


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
