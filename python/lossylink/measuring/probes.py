"""Probes and what two ends tell each other about them, in bytes, and the account of the probes that arrive.

```
 Ethernet 14, type 0x9000 | "LLpr" 4 | kind 1 | version 1 | sender 8 | number 8 | body's bytes 2 | CRC-32 4
 body
```

EtherType 0x9000, Ethernet's configuration test, is what no kernel takes for its own and what a guard carries
like any frame. The CRC covers everything behind the EtherType but itself: a frame that was altered and not
dropped is counted as such.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from lossylink.measuring.record import Record

ETHERTYPE: Final = 0x9000
BROADCAST: Final = b"\xff" * 6
PROBE, WORD, PART = 1, 2, 3
"""Kinds of frames: a numbered probe, what an end says of itself, and a part of its account."""

SENDER_BYTES: Final = 8
MOST_PROBES: Final = 10_000_000
"""Probes of one direction: as many frames as a loss trace may have."""

_MAGIC, _VERSION = b"LLpr", 1
_HEADER = struct.Struct("!4sBB8sQH")
_CHECK = struct.Struct("!I")
_BEGIN = 14 + _HEADER.size + _CHECK.size
#: The shortest frame that Ethernet does not pad.
SHORTEST_BYTES: Final = 60
#: Probes for which the account makes room at once.
_ROOM = 65_536


@dataclass(frozen=True)
class Frame:
    """A frame of `measure` that arrived whole."""

    kind: int
    source: bytes
    """The MAC address that it came from."""
    sender: bytes
    number: int
    body: bytes


def build(
    kind: int,
    *,
    target: bytes,
    source: bytes,
    sender: bytes,
    number: int,
    body: bytes,
    check: int | None = None,
) -> bytes:
    """Return a frame, padded to Ethernet's least; ``check`` is the CRC of the body where it is known.

    Examples
    --------
    >>> frame = build(PROBE, target=BROADCAST, source=bytes(6), sender=b"8 octets", number=5, body=b"abc")
    >>> len(frame), parse(frame).number, parse(frame).body, parse(frame[:41] + b"x" + frame[42:])
    (60, 5, b'abc', None)
    """
    header = _HEADER.pack(_MAGIC, kind, _VERSION, sender, number, len(body))
    crc = zlib.crc32(header, zlib.crc32(body) if check is None else check)
    frame = target + source + ETHERTYPE.to_bytes(2, "big") + header + _CHECK.pack(crc) + body
    return frame.ljust(SHORTEST_BYTES, b"\0")


def parse(frame: bytes | memoryview) -> Frame | None:
    """Return what a frame says; nothing if it is altered or cut short."""
    if len(frame) < _BEGIN:
        return None
    magic, kind, version, sender, number, length = _HEADER.unpack_from(frame, 14)
    body = bytes(frame[_BEGIN : _BEGIN + length])
    (crc,) = _CHECK.unpack_from(frame, 14 + _HEADER.size)
    is_whole = magic == _MAGIC and version == _VERSION and len(body) == length
    if not is_whole or crc != zlib.crc32(bytes(frame[14 : 14 + _HEADER.size]), zlib.crc32(body)):
        return None
    return Frame(kind, bytes(frame[6:12]), sender, number, body)


def parse_cut(frame: bytes) -> Frame | None:
    """Return what the header of a frame says whose end a capture has left out; nothing checks it."""
    if len(frame) < _BEGIN:
        return None
    _, kind, version, sender, number, _ = _HEADER.unpack_from(frame, 14)
    return Frame(kind, bytes(frame[6:12]), sender, number, b"") if version == _VERSION else None


def is_ours(frame: bytes | memoryview) -> bool:
    """Whether a frame claims to be of `measure`: others may use its EtherType."""
    return frame[12:18] == ETHERTYPE.to_bytes(2, "big") + _MAGIC


def body_bytes(length_bytes: int) -> int:
    """Return the bytes of body of a frame of so many bytes."""
    return length_bytes - _BEGIN


@dataclass
class Tally:
    """Which probes of one sender have arrived."""

    duplicated: int = 0
    reordered: int = 0
    """Probes that arrived behind one with a higher number; they are no losses."""
    altered: int = 0
    """Frames that arrived with wrong contents: of a probe nobody knows which."""
    highest: int = -1
    _seen: bytearray = field(default_factory=bytearray)

    def enter(self, number: int) -> None:
        """Enter the number of a probe that arrived."""
        if number >= MOST_PROBES:
            self.altered += 1
            return
        if number >= len(self._seen):
            self._seen.extend(bytes(number + _ROOM - len(self._seen)))
        if self._seen[number]:
            self.duplicated += 1
            return
        self._seen[number] = 1
        if number < self.highest:
            self.reordered += 1
        else:
            self.highest = number

    def record(self, sent: int | None) -> Record:
        """Return what was lost of so many probes; of those up to the highest if nobody says how many."""
        count = self.highest + 1 if sent is None else sent
        arrived = np.frombuffer(bytes(self._seen[:count]).ljust(count, b"\0"), dtype=np.uint8)
        return Record(arrived == 0)
