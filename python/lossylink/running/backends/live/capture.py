"""Reading the capture of a host: when each flow began and when all of it was acknowledged."""

from __future__ import annotations

import math
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lossylink.errors import RunError

#: pcap with nanosecond time stamps, in the writer's byte order.
_MAGIC = 0xA1B23C4D
_FILE_HEADER, _RECORD = struct.Struct("<IHHiIII"), struct.Struct("<IIII")
_ETHERNET, _IPV4 = 14, b"\x08\x00"
_TCP = 6
_SYN, _ACK = 0x02, 0x10
#: How often the size of a capture is looked at until it stands still, and how many times at the most.
_LOOK_SECONDS, _MOST_LOOKS = 0.25, 40


@dataclass
class Flow:
    """What the capture tells of one flow."""

    first_data_ns: int | None = None
    acknowledged_ns: int | None = None
    first_byte: int = 0
    """Sequence number of the first byte of data."""
    highest: int = 0
    """Bytes sent so far, counted from the first."""
    sent_again: int = 0

    @property
    def took_us(self) -> float:
        """From the first data packet to the first ACK that covers all bytes; infinite without either."""
        if self.first_data_ns is None or self.acknowledged_ns is None:
            return math.inf
        return self.acknowledged_ns / 1e3 - self.first_data_ns / 1e3


def wait_until_listening(sniffer: subprocess.Popen[str]) -> None:
    """Wait until a capture has begun, which it says on stderr.

    Raises
    ------
    RunError
        It cannot begin; the message is its own.
    """
    line = sniffer.stderr.readline() if sniffer.stderr else ""
    if "listening" not in line:
        raise RunError(line.strip().removeprefix("error: ") or "the capture ended before it began")


def wait_until_written(capture: Path) -> None:
    """Wait until a capture has caught up: packets that it has not read when it ends are not in the file."""
    size = -1
    for _ in range(_MOST_LOOKS):
        time.sleep(_LOOK_SECONDS)
        before, size = size, capture.stat().st_size
        if size == before:
            return


def completion_times_us(path: Path, *, server_port: int, size_bytes: int) -> list[tuple[float, int]]:
    """Return, for each flow, its completion time in microseconds and the segments that were sent again.

    The published rule: from the first data packet to the first ACK that covers all bytes, both at the sender.
    Flows come in the order in which they began. One without either packet is left out.
    """
    flows = flows_in(path, server_port=server_port, size_bytes=size_bytes)
    done = [flow for flow in flows if math.isfinite(flow.took_us)]
    done.sort(key=lambda flow: flow.first_data_ns or 0)
    return [(flow.took_us, flow.sent_again) for flow in done]


def flows_in(path: Path, *, server_port: int, size_bytes: int) -> list[Flow]:
    """Return all flows, in the order in which their connections were opened."""
    flows: list[Flow] = []
    by_port: dict[int, Flow] = {}
    for when_ns, packet in packets(path):
        _enter(flows, by_port, when_ns, packet, server_port, size_bytes)
    return flows


def packets(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the instant of each packet, in nanoseconds, and its first bytes.

    Raises
    ------
    ValueError
        The file is no capture with nanosecond time stamps.
    """
    with path.open("rb") as file:
        begin = file.read(_FILE_HEADER.size)
        if len(begin) < _FILE_HEADER.size or _FILE_HEADER.unpack(begin)[0] != _MAGIC:
            raise ValueError(f"{path} is no capture with nanosecond time stamps")
        # A capture of many flows may be larger than what is free of the memory.
        while len(head := file.read(_RECORD.size)) == _RECORD.size:
            seconds, nanoseconds, length, _ = _RECORD.unpack(head)
            yield seconds * 10**9 + nanoseconds, file.read(length)


def _enter(
    flows: list[Flow],
    by_port: dict[int, Flow],
    when_ns: int,
    packet: bytes,
    server_port: int,
    size_bytes: int,
) -> None:
    """Enter one packet; ``by_port`` has the flow that a client's port belongs to at that time."""
    if packet[12:14] != _IPV4 or packet[_ETHERNET + 9] != _TCP:
        return
    header = (packet[_ETHERNET] & 0x0F) * 4
    total = int.from_bytes(packet[_ETHERNET + 2 : _ETHERNET + 4])
    tcp = _ETHERNET + header
    source, target, sequence, acknowledged = struct.unpack_from(">HHII", packet, tcp)
    flags = packet[tcp + 13]
    payload = total - header - (packet[tcp + 12] >> 4) * 4
    if target == server_port:
        if flags & _SYN:
            _opened(flows, by_port, source, (sequence + 1) % 2**32)
        elif payload > 0 and (flow := by_port.get(source)):
            _sent(flow, when_ns, (sequence - flow.first_byte) % 2**32, payload)
    elif source == server_port and flags & _ACK and not flags & _SYN and (flow := by_port.get(target)):
        covers = (acknowledged - flow.first_byte) % 2**32
        if flow.acknowledged_ns is None and size_bytes <= covers < 2**31:
            flow.acknowledged_ns = when_ns


def _opened(flows: list[Flow], by_port: dict[int, Flow], port: int, first_byte: int) -> None:
    """Begin a flow, unless this is its SYN again: a client's port is soon used by another flow."""
    if port not in by_port or by_port[port].first_byte != first_byte:
        by_port[port] = Flow(first_byte=first_byte)
        flows.append(by_port[port])


def _sent(flow: Flow, when_ns: int, offset: int, payload: int) -> None:
    if flow.first_data_ns is None:
        flow.first_data_ns = when_ns
    flow.sent_again += offset < flow.highest
    flow.highest = max(flow.highest, offset + payload)
