"""Reading the record of RDMA writes, one outstanding at a time: what each sent again, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lossylink.running.backends.live.capture import packets

#: RoCEv2 is UDP to this port (InfiniBand Architecture Specification, annex A17).
_PORT = 4791
_ETHERNET, _IPV4, _UDP_PROTOCOL, _UDP_BYTES = 14, b"\x08\x00", 17, 8
#: Where the number of a packet and the syndrome of an acknowledgement stand behind the UDP header.
_NUMBER, _SYNDROME = slice(9, 12), 12
_NUMBERS = 2**24
#: Packets of a reliable connection: first, middle, last and only one of a write; an acknowledgement.
_WRITES, _ACKNOWLEDGEMENT = frozenset({0x06, 0x07, 0x08, 0x0A}), 0x11
#: The syndrome of a NAK that reports a gap.
_SEQUENCE_ERROR = 0x60
#: Processing costs no time in a guest: what comes so soon behind a NAK is its work. Timers tick every
#: millisecond.
_AT_ONCE_NS = 1000


@dataclass
class Write:
    """What the record tells of one write."""

    sent_again: int = 0
    """Packets."""
    repairs: int = 0
    """How often the requester went back because a NAK asked for it."""
    timeouts: int = 0
    """How often it went back because its timer expired."""


def writes_in(record: Path, *, writes: int, packets_each: int) -> list[Write]:
    """Return what the record of the near host tells of each write.

    Parameters
    ----------
    record
        A capture with nanosecond time stamps.
    writes
        How many there are. The packets of write ``n`` are numbered from ``n * packets_each`` on.
    packets_each
        Packets of a write.
    """
    found = [Write() for _ in range(writes)]
    follows = highest = 0
    asked_ns = -_AT_ONCE_NS
    for when_ns, packet in packets(record):
        body = _roce(packet)
        if body is None:
            continue
        if body[0] in _WRITES:
            position = _near(int.from_bytes(body[_NUMBER]), follows)
            write = found[position // packets_each]
            if position < follows:
                is_asked = when_ns - asked_ns < _AT_ONCE_NS
                write.repairs += is_asked
                write.timeouts += not is_asked
            write.sent_again += position < highest
            follows = position + 1
            highest = max(highest, follows)
        elif body[0] == _ACKNOWLEDGEMENT and body[_SYNDROME] == _SEQUENCE_ERROR:
            asked_ns = when_ns
    return found


def _roce(packet: bytes) -> bytes | None:
    """Return what a frame of RoCEv2 carries from its base transport header on."""
    if packet[12:14] != _IPV4 or packet[_ETHERNET + 9] != _UDP_PROTOCOL:
        return None
    udp = _ETHERNET + (packet[_ETHERNET] & 0x0F) * 4
    if int.from_bytes(packet[udp + 2 : udp + 4]) != _PORT:
        return None
    return packet[udp + _UDP_BYTES :]


def _near(number: int, position: int) -> int:
    """Return the position with a number of 24 bits that is nearest to another one.

    Examples
    --------
    >>> _near(5, 2**24 + 3) == 2**24 + 5, _near(2**24 - 1, 2**24 + 3) == 2**24 - 1
    (True, True)
    """
    ahead = (number - position + _NUMBERS // 2) % _NUMBERS - _NUMBERS // 2
    return position + ahead
