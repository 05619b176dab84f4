"""What ``ss -tin`` says of losses: the segments that each TCP connection of this host sent again.

``retrans:NOW/ALL`` counts them, ``data_segs_out`` all segments with data, those sent again included, and
``dsack_dups`` those that the peer had already. A text may have several readings one behind another: a
connection that is in more than one counts with what came between its first and its last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from lossylink.errors import UserError
from lossylink.measuring.tools.iperf3 import AGAIN, NOT_LOSSES
from lossylink.measuring.tools.reading import Batch, Reading

_FIELD: Final = re.compile(r"(?<!\S)([a-z_]+):(\S+)")
_ENDPOINT: Final = re.compile(r"\S*:(?:\d+|\*|[a-z][a-z0-9-]*)")
#: Fields of Linux's ``tcp_info`` that only ss prints so, in every version that tells losses.
_MARKS: Final = ("segs_out:", "rto:", "bytes_acked:", "data_segs_out:")


@dataclass(frozen=True)
class Socket:
    """The counters of one connection, since it began."""

    ends: tuple[str, str]
    sent: int
    again: int
    spurious: int
    has_data_count: bool
    """Whether segments without data are left out, as kernels from 4.6 on tell."""
    round_trip_ms: float | None
    segment_bytes: int | None


def recognises(text: str) -> bool:
    """Whether a text is of ``ss -ti``."""
    return any(mark in text for mark in _MARKS) and ("cwnd:" in text or "rtt:" in text)


def read(text: str, name: str) -> list[Reading]:
    """Return what the connections of a host sent again.

    Raises
    ------
    UserError
        No connection has sent data.
    """
    readings: dict[tuple[str, str], list[Socket]] = {}
    for socket in _sockets(text):
        readings.setdefault(socket.ends, []).append(socket)
    batches = [batch for seen in readings.values() for batch in _between(seen) if batch.sent]
    if not batches:
        raise UserError(f"{name}: no connection sent data; run ss -tin on the sender, while traffic flows")
    sockets = [seen[-1] for seen in readings.values()]
    several = sum(len(seen) > 1 for seen in readings.values())
    title = f"ss, from this host, {len(batches)} of {len(readings)} connections sent data"
    notes = tuple(_notes(sockets, several=several))
    return [Reading(title, "segments", tuple(batches), notes, batch="connection", lost_word=AGAIN)]


def _sockets(text: str) -> Iterator[Socket]:
    """Yield the connections of a text; ss writes one in two lines, or in one with ``-O``."""
    ends: tuple[str, str] | None = None
    for line in text.splitlines():
        fields = dict(_FIELD.findall(line))
        if not line[:1].isspace():
            found = [word for word in line.split() if _ENDPOINT.fullmatch(word)][:2]
            ends = (found[0], found[1]) if len(found) == 2 and "Local" not in line else None
        if ends is not None and "rto" in fields:
            yield _socket(ends, fields)
            ends = None


def _socket(ends: tuple[str, str], fields: dict[str, str]) -> Socket:
    data = fields.get("data_segs_out")
    round_trip = fields.get("rtt", "").partition("/")[0]
    segment = fields.get("mss")
    return Socket(
        ends=ends,
        # ss leaves a count of zero out; a connection that receives sends acknowledgements alone.
        sent=_count(data if data or "data_segs_in" in fields else fields.get("segs_out")),
        again=_count(fields.get("retrans", "0/0").partition("/")[2]),
        spurious=_count(fields.get("dsack_dups")),
        has_data_count=bool(data),
        round_trip_ms=float(round_trip) if round_trip else None,
        segment_bytes=_count(segment) if segment else None,
    )


def _count(text: str | None) -> int:
    digits = re.match(r"\d+", text or "")
    return int(digits[0]) if digits else 0


def _between(seen: list[Socket]) -> Iterator[Batch]:
    """Yield what a connection sent between two readings; all of it where there is one.

    Counters that fall are of a new connection with the ends of the old one.
    """
    if len(seen) == 1:
        yield _batch(seen[0])
    for before, after in pairwise(seen):
        if after.sent < before.sent:
            yield _batch(after)
        else:
            again = (after.again - before.again) - (after.spurious - before.spurious)
            yield _bounded(after.sent - before.sent, again)


def _batch(socket: Socket) -> Batch:
    return _bounded(socket.sent, socket.again - socket.spurious)


def _bounded(sent: int, lost: int) -> Batch:
    return Batch(sent, min(sent, max(0, lost)))


def _notes(sockets: list[Socket], *, several: int) -> Iterator[str]:
    yield NOT_LOSSES
    spurious = sum(socket.spurious for socket in sockets)
    if spurious:
        yield f"{spurious:,} that the peer had already (dsack_dups) are not counted"
    if several:
        yield f"{several} connections are in several readings, and count with what came between them"
    else:
        yield "one reading counts since the connections began; a second one later tells a time"
    if any(socket.sent and not socket.has_data_count for socket in sockets):
        yield "this kernel does not count segments with data apart: acknowledgements are among them"
    times = [socket.round_trip_ms for socket in sockets if socket.sent and socket.round_trip_ms is not None]
    sizes = {socket.segment_bytes for socket in sockets if socket.sent and socket.segment_bytes}
    if times and sizes:
        segments = "/".join(f"{size:,}" for size in sorted(sizes))
        yield f"rtt {min(times):g} to {max(times):g} ms, mss {segments} B"
