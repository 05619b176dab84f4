"""The frames of a capture: pcapng, as Wireshark and lossylink write it, or pcap, as tcpdump does."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lossylink._package.compressed import opened, plain
from lossylink.declared.job import Progress
from lossylink.errors import UserError

_SECTION, _INTERFACE, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 3, 6
_BYTE_ORDER = 0x1A2B3C4D
_FLAGS_OPTION, _CRC_ERROR, _INBOUND = 2, 1 << 24, 1
#: The first word of a pcap file, for times in microseconds and in nanoseconds.
_PCAP: Final = {0xA1B2C3D4, 0xA1B23C4D}
_ETHERNET = 1


@dataclass(frozen=True)
class Packet:
    """A frame of a capture."""

    data: bytes
    is_whole: bool
    """Whether the capture kept all of its bytes."""
    is_corrupted: bool
    """Whether the capture says that its check sequence was wrong."""
    is_inbound: bool
    """Whether the capture says that the frame was received; false if it does not say."""


def is_capture(path: Path) -> bool:
    """Whether a file begins like a capture."""
    with opened(path) as file:
        begin = file.read(4)
    words = {int.from_bytes(begin, "little"), int.from_bytes(begin, "big")}
    return len(begin) == 4 and bool(words & (_PCAP | {_SECTION}))


def packets(path: Path, report: Progress) -> Iterator[Packet]:
    """Yield the frames of a capture in their order; a last one that was cut off is left out."""
    with plain(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        is_pcap = {int.from_bytes(data[:4], "little"), int.from_bytes(data[:4], "big")} & _PCAP
        try:
            for at, packet in (_pcap if is_pcap else _pcapng)(data, path):
                report(at, len(data))
                yield packet
        except (struct.error, IndexError):
            raise UserError(f"{path} is damaged; record it again") from None


def _refuse_link(path: Path) -> UserError:
    return UserError(f"{path} holds no Ethernet frames; capture on the interface of the link itself")


def _pcap(data: mmap.mmap, path: Path) -> Iterator[tuple[int, Packet]]:
    order = "<" if int.from_bytes(data[:4], "little") in _PCAP else ">"
    if struct.unpack_from(f"{order}I", data, 20)[0] & 0xFFFF != _ETHERNET:
        raise _refuse_link(path)
    at = 24
    while at + 16 <= len(data):
        kept, whole = struct.unpack_from(f"{order}II", data, at + 8)
        frame = data[at + 16 : at + 16 + kept]
        if len(frame) < kept:
            return
        at += 16 + kept
        yield at, Packet(frame, kept >= whole, is_corrupted=False, is_inbound=False)


def _pcapng(data: mmap.mmap, path: Path) -> Iterator[tuple[int, Packet]]:
    at, order = 0, "<"
    while at + 12 <= len(data):
        if data[at : at + 4] == b"\n\r\r\n":
            order = "<" if int.from_bytes(data[at + 8 : at + 12], "little") == _BYTE_ORDER else ">"
        kind, length = struct.unpack_from(f"{order}II", data, at)
        if length < 12:
            raise struct.error
        if at + length > len(data):
            return
        body, at = data[at + 8 : at + length - 4], at + length
        if kind == _INTERFACE and struct.unpack_from(f"{order}H", body)[0] != _ETHERNET:
            raise _refuse_link(path)
        if kind == _ENHANCED:
            yield at, _enhanced(body, order)
        elif kind == _SIMPLE:
            (whole,) = struct.unpack_from(f"{order}I", body)
            frame = body[4 : 4 + whole]
            yield at, Packet(frame, len(frame) == whole, is_corrupted=False, is_inbound=False)


def _enhanced(body: bytes, order: str) -> Packet:
    kept, whole = struct.unpack_from(f"{order}II", body, 12)
    flags = _flags(body, 20 + (kept + 3) // 4 * 4, order)
    return Packet(body[20 : 20 + kept], kept >= whole, bool(flags & _CRC_ERROR), flags & 3 == _INBOUND)


def _flags(body: bytes, at: int, order: str) -> int:
    while at + 4 <= len(body):
        code, length = struct.unpack_from(f"{order}HH", body, at)
        if code == _FLAGS_OPTION:
            return int(struct.unpack_from(f"{order}I", body, at + 4)[0])
        at += 4 + (length + 3) // 4 * 4
    return 0
