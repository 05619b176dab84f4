"""Reads the TCP segments of a capture that ``--pcap`` recorded, for traces of sequence numbers.

Of pcapng it knows what lossylink writes: one little-endian section, one interface of Ethernet, timestamps in
nanoseconds. Other captures are refused.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars

from lossylink._package.compressed import opened
from lossylink.errors import UserError
from lossylink.results.result import Result

TABLE = "segments"

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_LITTLE_ENDIAN = 0x1A2B3C4D
_ETHERNET, _NANOSECONDS, _RESOLUTION_OPTION = 1, 9, 9
_IPV4, _TCP = 0x0800, 6
_ETHERNET_BYTES = 14
_SYN, _FIN = 2, 1
_WRAP = 2**32


@dataclass
class _Direction:
    """What went one way: where its sequence began and how far it is."""

    begin: int
    furthest: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)

    def place(self, sequence: int) -> int:
        """Return bytes since the beginning, beyond 4 GiB, too."""
        near = (sequence - self.begin) % _WRAP
        wraps = round((self.furthest - near) / _WRAP)
        return near + max(0, wraps) * _WRAP


def read_capture(path: Path) -> Result:
    """Return a run whose table ``segments`` has a row a data segment or acknowledgement of the first flow.

    Columns: ``time_s``; ``sent_bytes``, the end of a data segment counted from the flow's first byte, and
    ``is_again``, whether it was sent before; ``acknowledged_bytes``. What a row does not tell is null.

    Raises
    ------
    UserError
        It cannot be read, is no such capture, or has no TCP data.
    """
    with opened(path, what="the capture") as file:
        data = file.read()
    try:
        rows = _rows(_segments(data))
    except (struct.error, IndexError, ValueError):
        raise UserError(f"{path} is no capture of lossylink run --pcap; record it again") from None
    if not any(row["sent_bytes"] is not None for row in rows):
        raise UserError(
            f"{path} holds no TCP data; record a hop of a host, such as --pcap h4-sw8={path.name}"
        )
    schema = {
        "time_s": polars.Float64,
        "sent_bytes": polars.Int64,
        "is_again": polars.Boolean,
        "acknowledged_bytes": polars.Int64,
    }
    return Result(
        experiment="capture",
        backend="capture",
        version="",
        seed=0,
        wall_seconds=0.0,
        scenario={},
        records=[{"protection": path.stem}],
        parts={TABLE: polars.DataFrame(rows, schema=schema)},
    )


def _blocks(data: bytes) -> Iterator[tuple[int, memoryview]]:
    view, at = memoryview(data), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if length < 12 or at + length > len(data):
            raise ValueError("a block is cut short")
        yield kind, view[at + 8 : at + length - 4]
        at += length


def _segments(data: bytes) -> Iterator[tuple[float, memoryview]]:
    """Yield time in seconds and the frame of every IPv4 packet of TCP."""
    blocks = _blocks(data)
    kind, body = next(blocks, (0, memoryview(b"")))
    if kind != _SECTION or struct.unpack_from("<I", body)[0] != _LITTLE_ENDIAN:
        raise ValueError("no section of ours")
    for kind, body in blocks:
        if kind == _INTERFACE and (struct.unpack_from("<H", body)[0], _resolution(body)) != (
            _ETHERNET,
            _NANOSECONDS,
        ):
            raise ValueError("no interface of ours")
        if kind != _PACKET:
            continue
        _, high, low, captured, _ = struct.unpack_from("<IIIII", body)
        frame = body[20 : 20 + captured]
        is_tcp = len(frame) >= 54 and struct.unpack_from(">H", frame, 12)[0] == _IPV4 and frame[23] == _TCP
        if is_tcp:
            yield (high * _WRAP + low) / 1e9, frame


def _resolution(body: memoryview) -> int:
    """Return the option of the timestamps' resolution, as a power of ten."""
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<HH", body, at)
        if code == _RESOLUTION_OPTION:
            return int(body[at + 4])
        at += 4 + (length + 3) // 4 * 4
    return 6  # the format's default: microseconds


def _rows(segments: Iterator[tuple[float, memoryview]]) -> list[dict[str, Any]]:
    """Return the rows of the first flow that begins, with its acknowledgements."""
    flow: bytes | None = None
    way: _Direction | None = None
    rows: list[dict[str, Any]] = []
    for time_s, frame in segments:
        ip = frame[_ETHERNET_BYTES:]
        header = (ip[0] & 15) * 4
        tcp = ip[header:]
        there, back = bytes(ip[12:20]) + bytes(tcp[:4]), bytes(ip[16:20]) + bytes(ip[12:16])
        back += bytes(tcp[2:4]) + bytes(tcp[:2])
        sequence, acknowledged = struct.unpack_from(">II", tcp, 4)
        flags, payload = tcp[13], struct.unpack_from(">H", ip, 2)[0] - header - (tcp[12] >> 4) * 4
        if flow is None and payload > 0:
            flow, way = there, _Direction(begin=sequence)
        if way is None:
            continue
        row: dict[str, Any] = {"time_s": time_s, "sent_bytes": None, "is_again": None}
        if there == flow and payload > 0:
            begin = way.place(sequence)
            rows.append(row | {"sent_bytes": begin + payload, "is_again": begin < way.furthest})
            way.furthest = max(way.furthest, begin + payload)
        elif back == flow and not flags & (_SYN | _FIN):
            rows.append(row | {"acknowledged_bytes": way.place(acknowledged)})
    return [{"acknowledged_bytes": None} | row for row in rows]
