"""Findings from files: a capture, a loss trace, or what iperf3, ss or tc printed; compressed or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lossylink._package import compressed
from lossylink.measuring.numbered import read_losses
from lossylink.measuring.outcome import Finding
from lossylink.measuring.packets import is_capture
from lossylink.measuring.tools import recognised
from lossylink.measuring.tools.reading import Reading

Report = Callable[[float, float], None]
#: A scenario has two directions: the busiest two are taken.
_KEYS = ("forward", "reverse")


def findings_of(path: Path, *, read: Report, fit: Report) -> list[Finding]:
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
        readings = None if is_capture(file) else _of_tool(file, path)
        if readings is not None:
            return [
                Finding(key, one.title, one.fit(), one.unit, notes=one.notes, lost_word=one.lost_word)
                for key, one in zip(_KEYS, readings, strict=False)
            ]
        busiest = sorted(read_losses(file, read).items(), key=lambda one: -one[1].record.frames)
    return [
        Finding.of(key, name, direction, unit="frames", report=fit)
        for key, (name, direction) in zip(_KEYS, busiest, strict=False)
    ]


def _of_tool(file: Path, path: Path) -> list[Reading] | None:
    text = compressed.read_text(file, most_bytes=recognised.MOST_BYTES, what="the recording")
    return recognised.readings(text, str(path))
