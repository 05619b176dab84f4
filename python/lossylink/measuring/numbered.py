"""Records from files: numbered frames of a capture, or a loss trace.

A frame that is missing between two others, or that the capture marks as corrupted, was lost. A frame that
comes late or twice was not. Numbers that wrap are continued.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from lossylink.declared.job import Progress
from lossylink.errors import UserError
from lossylink.measuring import probes
from lossylink.measuring.exchange import Direction
from lossylink.measuring.packets import Packet, is_capture, packets
from lossylink.measuring.probes import MOST_PROBES, PROBE
from lossylink.measuring.record import Record
from lossylink.scenario.loss import parse_loss

LINKGUARDIAN: Final = b"\xab\xcd"
"""EtherType of LinkGuardian's frames (WIRE-4)."""

NEAR: Final = 4096
"""Numbers that a frame may be ahead or behind: a longer step begins a new session."""

_ACK, _KIND, _ERA, _AGAIN, _DUMMY = 0x40, 0xC0, 0x10, 0x08, 0x04
#: A number of 16 bits, and an era that says how often it has wrapped, even or odd.
_WRAP = 1 << 17
#: Sessions beyond this share of frames are two directions that are mixed.
_MOST_SESSIONS_SHARE = 0.01


@dataclass
class Numbers:
    r"""The frames of one direction, by numbers that wrap at ``wrap``.

    Examples
    --------
    >>> numbers = Numbers(wrap=8)
    >>> for number in (6, 7, 1, 0, 0, 3):
    ...     numbers.enter(number)
    >>> numbers.direction().record.trace(), numbers.duplicated, numbers.reordered
    ('000010\n', 1, 1)
    """

    wrap: int
    duplicated: int = 0
    reordered: int = 0
    sessions: int = 0
    frames: int = 0
    _seen: dict[int, bool] = field(default_factory=dict)
    _highest: int = -1
    _records: list[np.ndarray[tuple[int], np.dtype[np.bool_]]] = field(default_factory=list)

    def enter(self, number: int, *, is_corrupted: bool = False) -> None:
        """Enter a frame by the number that it carries."""
        self.frames += 1
        place = number if self._highest < 0 else self._place(number)
        if place < 0:
            self._close()
            place = number
        if not self._seen:
            self.sessions += 1
        if place in self._seen:
            self.duplicated += 1
            is_corrupted &= self._seen[place]
        elif place < self._highest:
            self.reordered += 1
        self._seen[place] = is_corrupted
        self._highest = max(self._highest, place)

    def _place(self, number: int) -> int:
        """Return the place in the sequence that is nearest to the highest; -1 if that is too far."""
        ahead = (number - self._highest) % self.wrap
        ahead -= self.wrap if ahead > self.wrap // 2 else 0
        place = self._highest + ahead
        return place if abs(ahead) <= min(NEAR, self.wrap // 2) else -1

    def _close(self) -> None:
        if self._seen:
            first = min(self._seen)
            lost = np.ones(self._highest + 1 - first, dtype=np.bool_)
            lost[[place - first for place, is_corrupted in self._seen.items() if not is_corrupted]] = False
            self._records.append(lost)
        self._seen, self._highest = {}, -1

    def direction(self) -> Direction:
        """Return what became of the frames, all sessions one after the other."""
        self._close()
        record = Record(np.concatenate(self._records))
        return Direction(record, self.duplicated, self.reordered, 0, 0, is_complete=True)


def read_losses(path: Path, report: Progress) -> dict[str, Direction]:
    """Return what became of the frames of a file, by direction: a capture, or a loss trace.

    Raises
    ------
    UserError
        When it cannot be read or holds no frames whose numbers are known.
    """
    if not is_capture(path):
        lost = parse_loss(f"trace:{path}").native["lost"]
        return {path.name: Direction(Record.of(lost), 0, 0, 0, 0, is_complete=True)}
    found: dict[str, Numbers] = {}
    for packet in packets(path, report):
        numbered = _probe(packet) or _linkguardian(packet)
        if numbered is not None:
            name, number, wrap = numbered
            found.setdefault(name, Numbers(wrap)).enter(number, is_corrupted=packet.is_corrupted)
    if not found:
        wanted = "probes of lossylink measure or frames of LinkGuardian (EtherType 0xABCD)"
        raise UserError(f"{path} holds no numbered frames; capture {wanted} where they arrive")
    for name, numbers in found.items():
        if numbers.sessions > max(10, _MOST_SESSIONS_SHARE * numbers.frames):
            raise UserError(f"{path}: numbers of {name} jump; capture one direction: tcpdump -Q in")
    return {name: numbers.direction() for name, numbers in found.items()}


def _probe(packet: Packet) -> tuple[str, int, int] | None:
    """Return the direction, number and wrap of a probe."""
    if not probes.is_ours(packet.data):
        return None
    frame = probes.parse(packet.data) if packet.is_whole else probes.parse_cut(packet.data)
    if frame is None or frame.kind != PROBE or frame.number >= MOST_PROBES:
        return None
    return f"probes of {frame.sender.hex()}", frame.number, 1 << 64


def _linkguardian(packet: Packet) -> tuple[str, int, int] | None:
    """Return the direction, number and wrap of a frame that LinkGuardian sends first (WIRE-5)."""
    data = packet.data
    if data[12:14] != LINKGUARDIAN or len(data) < 22:
        return None
    at = 14
    if data[at] & _KIND == _ACK and data[at + 3 : at + 5] == LINKGUARDIAN:  # an ACK in front (WIRE-8)
        at += 5
    if data[at] & (_KIND | _AGAIN | _DUMMY):
        return None
    number = (1 << 16 if data[at] & _ERA else 0) + int.from_bytes(data[at + 1 : at + 3], "big")
    return f"LinkGuardian {'toward the near end' if packet.is_inbound else 'frames'}", number, _WRAP
