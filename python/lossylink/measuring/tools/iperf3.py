"""What ``iperf3 --json`` and ``--json-stream`` say of losses.

UDP has a count: its receiver finds the numbers that are missing (``lost_packets`` of ``packets``), for each
interval. TCP has an estimate: the segments that its sender sent again (``retransmits``), beside those that
its octets fill. Fields are those of iperf3 3.0 to 3.19.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from lossylink.errors import UserError
from lossylink.measuring.tools.reading import Batch, Reading, summed

#: Octets of a segment where iperf3 does not say: Ethernet's MTU less headers and timestamps.
_USUAL_SEGMENT_BYTES: Final = 1_448
#: Octets of a datagram that a frame of the usual MTU holds.
_WHOLE_DATAGRAM_BYTES: Final = 1_472

AGAIN: Final = "sent again"
NOT_LOSSES: Final = (
    "an estimate: retransmissions are not losses. Some repeat what was only late, and losses of full queues "
    "count too; the interval knows of neither"
)
_SOCKET: Final = (
    "iperf3 cannot tell the link's losses from those of the receiver's socket: compare 'receive buffer "
    "errors' of netstat -su"
)

Document = dict[str, Any]


def recognises(text: str) -> bool:
    """Whether a text is of iperf3: JSON with its members."""
    begin = text.lstrip()[:4096]
    return begin.startswith("{") and ('"start"' in begin or '"event"' in begin or '"error"' in begin)


def read(text: str, name: str) -> list[Reading]:
    """Return what each direction of a test counted.

    Raises
    ------
    UserError
        The text was cut off, is of a failed test, or of a sender that counts no retransmissions.
    """
    readings = [one for document in _documents(text, name) for one in _of_test(document, name)]
    if not readings:
        raise UserError(f"{name}: iperf3 counted no packets in it; run the test for longer")
    return readings


def _documents(text: str, name: str) -> Iterator[Document]:
    """Yield the tests of a text: one JSON object each, or a line for each event (``--json-stream``)."""
    decoder, at = json.JSONDecoder(), 0
    stream: Document = {}
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            found, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if stream.get("intervals"):  # a stream tells what happened up to where it stops
                break
            line = error.lineno
            raise UserError(
                f"{name}: the JSON breaks off in line {line}; iperf3 writes it whole at its end, so let it "
                "end, or use --json-stream"
            ) from None
        if not isinstance(found, dict):
            raise UserError(f"{name} is JSON, but not of iperf3 --json")
        if "event" not in found:
            yield found
            continue
        if found["event"] == "start" and stream:
            yield stream
            stream = {}
        _enter(stream, found)
    if stream:
        yield stream


def _enter(stream: Document, event: Document) -> None:
    kind, data = event["event"], event.get("data", {})
    if kind == "interval":
        stream.setdefault("intervals", []).append(data)
    elif kind in {"start", "end", "error", "server_output_json"}:
        stream[kind] = data


def _of_test(document: Document, name: str) -> Iterator[Reading]:
    start, end = document.get("start") or {}, document.get("end") or {}
    test = start.get("test_start") or {}
    intervals = document.get("intervals") or []
    if document.get("error") and not (end.get("streams") or intervals):
        raise UserError(f"{name}: the test failed ({document['error']}); run it again")
    protocol = str(test.get("protocol", "")).upper()
    if protocol == "UDP":
        yield from _of_udp(document, test, name)
    elif protocol == "TCP":
        yield from _of_tcp(document, start, name)
    else:
        raise UserError(f"{name}: iperf3 counts losses of UDP and TCP, and this is {protocol or 'neither'}")


def _of_udp(document: Document, test: Mapping[str, Any], name: str) -> Iterator[Reading]:
    served = document.get("server_output_json") or {}
    end = document.get("end") or {}
    ended = [one["udp"] for one in end.get("streams") or [] if "udp" in one]
    ways: dict[bool, list[dict[str, Any]]] = {}
    for one in ended:
        ways.setdefault(bool(one.get("sender", _is_sending(document))), []).append(one)
    # The receiver's intervals count losses: of this end where it receives, else what the server sent along.
    here, there = _lost_in_intervals(document), _lost_in_intervals(served)
    if not ways and not here:
        raise UserError(
            f"{name}: no end and no interval of a receiver; let iperf3 end, or add --get-server-output"
        )
    for is_sender in sorted(ways or {False: []}, reverse=True):
        totals = [_datagrams(one) for one in ways.get(is_sender, [])]
        batches = _agreeing(there if is_sender else here, totals)
        if summed(batches).sent:
            notes = [*_udp_notes(test, ways.get(is_sender, [])), *_stopped(document)]
            title = _title(document, is_sender=is_sender, protocol="UDP")
            batch = "interval" if len(batches) > len(totals) else "stream"
            yield Reading(title, "datagrams", batches, tuple(notes), batch=batch)


def _lost_in_intervals(document: Document) -> list[Batch]:
    """Return what each interval counted of all streams of a receiver; the warm-up is left out."""
    found = (summed(map(_datagrams, streams)) for streams in _counting(document, "lost_packets"))
    return [one for one in found if one.sent]


def _datagrams(stream: Mapping[str, Any]) -> Batch:
    # Versions before 3.1 subtract what comes late twice.
    return Batch(int(stream["packets"]), max(0, int(stream["lost_packets"])))


def _counting(document: Document, key: str) -> Iterator[list[Document]]:
    """Yield the streams of each interval that have a count; the warm-up is left out."""
    for interval in document.get("intervals") or []:
        yield [one for one in interval.get("streams") or [] if key in one and not one.get("omitted")]


def _agreeing(intervals: Sequence[Batch], totals: Sequence[Batch]) -> tuple[Batch, ...]:
    """Return the intervals, or one batch a stream where the intervals contradict the totals."""
    if not totals:
        return tuple(intervals)
    whole, seen = summed(totals), summed(intervals)
    rest = Batch(max(0, whole.sent - seen.sent), whole.lost - seen.lost)
    if not intervals or rest.lost < 0 or rest.lost > rest.sent:
        return tuple(totals)
    return (*intervals, rest) if rest.lost else tuple(intervals)


def _udp_notes(test: Mapping[str, Any], streams: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield _SOCKET
    late = sum(int(one.get("out_of_order", 0)) for one in streams)
    if late:
        yield f"{late:,} came out of order: iperf3 counts a datagram as lost until it comes"
    block = int(test.get("blksize", 0))
    if block > _WHOLE_DATAGRAM_BYTES:
        pieces = math.ceil((block + 8) / 1480)
        yield (
            f"a datagram of {block:,} B travels in {pieces} frames at an MTU of 1,500 B, and is lost with "
            "any of them: the loss of frames is less (-l 1400 avoids it)"
        )


def _of_tcp(document: Document, start: Mapping[str, Any], name: str) -> Iterator[Reading]:
    segment = int(start.get("tcp_mss") or start.get("tcp_mss_default") or _USUAL_SEGMENT_BYTES)
    end = document.get("end") or {}
    senders = [one["sender"] for one in end.get("streams") or [] if "sender" in one]
    if not senders:
        senders = _summed_streams(document)
    counted = [one for one in senders if "retransmits" in one and int(one.get("bytes", 0))]
    if senders and not counted:
        raise UserError(
            f"{name} counts no retransmissions: take the sender's output; a sender without Linux counts "
            "none, so test with -u"
        )
    for is_sender in (True, False):
        ways = [one for one in counted if bool(one.get("sender", _is_sending(document))) is is_sender]
        totals = [_segments(one, segment) for one in ways]
        if totals:
            intervals = _retransmitted_in_intervals(document, segment) if is_sender else []
            same = summed(intervals).lost == summed(totals).lost
            batches = intervals if same and len(intervals) > len(totals) else totals
            batch = "interval" if batches is intervals else "stream"
            title = _title(document, is_sender=is_sender, protocol="TCP")
            notes = (
                NOT_LOSSES,
                f"segments of {segment:,} B, from the octets that were sent",
                *_stopped(document),
            )
            yield Reading(title, "segments", tuple(batches), notes, batch=batch, lost_word=AGAIN)


def _segments(stream: Mapping[str, Any], segment_bytes: int) -> Batch:
    again = int(stream["retransmits"])
    return Batch(math.ceil(int(stream["bytes"]) / segment_bytes) + again, again)


def _retransmitted_in_intervals(document: Document, segment_bytes: int) -> list[Batch]:
    found = (
        summed(_segments(one, segment_bytes) for one in streams if one.get("sender", True))
        for streams in _counting(document, "retransmits")
    )
    return [one for one in found if one.sent]


def _summed_streams(document: Document) -> list[dict[str, Any]]:
    """Return what each stream sent as far as its intervals tell; a stream that was cut off has no end."""
    sums: dict[int, dict[str, Any]] = {}
    for one in chain.from_iterable(_counting(document, "retransmits")):
        nothing = {"bytes": 0, "retransmits": 0, "sender": True}
        total = sums.setdefault(int(one.get("socket", 0)), nothing)
        total["bytes"] += int(one["bytes"])
        total["retransmits"] += int(one["retransmits"])
    return list(sums.values())


def _stopped(document: Document) -> Iterator[str]:
    if document.get("error"):
        yield f"the test ended early ({document['error']}): what was counted until then"
    elif not (document.get("end") or {}).get("streams"):
        yield "the text has no end of the test: what its intervals add up to"


def _title(document: Document, *, is_sender: bool, protocol: str) -> str:
    """Return the direction in words: where the connection leads, and which way packets went."""
    start = document.get("start") or {}
    ends: Document = next(iter(start.get("connected") or []), {})
    here, there = ends.get("local_host", "this host"), ends.get("remote_host", "the peer")
    way = f"{here} to {there}" if is_sender else f"{there} to {here}"
    return f"iperf3 {protocol}, {way}"


def _is_sending(document: Document) -> bool:
    """Whether this end sends, where streams do not say so (iperf3 before 3.7)."""
    start = document.get("start") or {}
    return ("connecting_to" in start) != bool((start.get("test_start") or {}).get("reverse"))
