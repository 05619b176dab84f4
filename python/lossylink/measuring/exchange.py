"""One end of a measurement with a peer, without I/O: when to send what, and what is known at the end.

```
 meeting --- each has heard that the other hears it ---> sending --- time is up, or either is stopped --->
 telling --- each has the whole account of the other ---> over
```

Every 20 ms an end says a *word*: whom it hears, how many probes it has sent, and which part of the peer's
account it still wants. Words are repeated for as long as they are true, so that any of them may be lost. Time
is passed in, in seconds; `poll_words` is called at least every few milliseconds.
"""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lossylink.measuring import probes
from lossylink.measuring.probes import MOST_PROBES, PART, PROBE, SENDER_BYTES, WORD, Frame, Tally
from lossylink.measuring.record import Record

WORD_SECONDS: Final = 0.02
"""Time between two words."""

SETTLE_SECONDS: Final = 0.5
"""How long probes may still arrive after the sender has said that it has sent them all."""

SILENT_SECONDS: Final = 10.0
"""A peer that says nothing for so long has gone."""

#: Bytes of an account in one frame, within any MTU of Ethernet.
_PART_BYTES = 1200
#: Parts that leave in a row.
_PARTS_AT_ONCE = 16
#: How often the last word is said.
_LAST_WORDS = 10


@dataclass(frozen=True)
class Direction:
    """What became of the probes of one direction."""

    record: Record
    duplicated: int
    reordered: int
    altered: int
    dropped: int
    """Probes that the two boxes dropped, not the link."""
    is_complete: bool
    """Whether the sender has said how many probes it sent."""


@dataclass(frozen=True)
class Drops:
    """Frames that a box of ours has dropped while it measured."""

    sending: int = 0
    receiving: int = 0


class Exchange:
    """One end: its probes, the peer's probes, and both accounts."""

    def __init__(
        self, *, address: bytes, length_bytes: int, seconds: float, sender: bytes | None = None
    ) -> None:
        self.peer: bytes | None = None
        self.sent = 0
        self.is_stopped = False
        """Whether either end was told to stop before its time."""
        self.tally = Tally()
        self.started_at: float | None = None
        self._sender = sender or secrets.token_bytes(SENDER_BYTES)
        self._address, self._target = address, probes.BROADCAST
        self._body = secrets.token_bytes(probes.body_bytes(length_bytes))
        self._check = zlib.crc32(self._body)
        self._seconds = seconds
        self._is_done = False
        self._word: dict[str, Any] = {}
        self._heard_at = self._arrived_at = 0.0
        self._done_at = 0.0  # when the later of the two ends was known to have sent all
        self._next_word_at = 0.0
        self._account: list[bytes] = []
        self._parts: dict[int, bytes] = {}

    @property
    def is_met(self) -> bool:
        """Whether both ends hear each other."""
        return self.started_at is not None

    def is_sending(self, now: float) -> bool:
        """Whether probes are to be sent; ends the sending when its time is up."""
        if self.started_at is None or self._is_done:
            return False
        if self.is_stopped or now - self.started_at >= self._seconds:
            self._is_done, self._done_at = True, now
        return not self._is_done

    def stop(self) -> None:
        """End before the time; the peer is told and ends as well."""
        self.is_stopped = True

    def probe(self) -> bytes:
        """Return the next probe; `confirm` says that it has left."""
        return probes.build(
            PROBE,
            target=self._target,
            source=self._address,
            sender=self._sender,
            number=self.sent,
            body=self._body,
            check=self._check,
        )

    def confirm(self) -> None:
        """Count the probe that was built last as sent."""
        self.sent += 1

    def handle_frame(self, now: float, data: bytes | memoryview) -> None:
        """Take a frame that arrived; those of others are passed over."""
        if not probes.is_ours(data):
            return
        frame = probes.parse(data)
        if frame is None:
            self.tally.altered += 1
        elif frame.sender == self.peer and frame.kind == PROBE:
            self._heard_at = self._arrived_at = now
            self.tally.enter(frame.number)
        elif frame.kind == WORD and frame.sender != self._sender and self.peer in (None, frame.sender):
            self._hear(now, frame)
        elif frame.sender == self.peer and frame.kind == PART:
            self._heard_at = now
            self._parts[frame.number] = frame.body

    def _hear(self, now: float, frame: Frame) -> None:
        word = _read_word(frame.body)
        if word is None:
            return
        if word["is_done"] and not self._word.get("is_done"):
            self._done_at = max(self._done_at, now)
        self.peer, self._target, self._heard_at, self._word = frame.sender, frame.source, now, word
        if self._word["hears"] == self._sender.hex() and self.started_at is None:
            self.started_at = now
        if self._word["is_stopped"]:
            self.is_stopped = True

    def settle(self, now: float, drops: Drops) -> None:
        """Close the account of the peer's probes once no more of them can come."""
        if self._account or not self._is_done or not self._word.get("is_done"):
            return
        if now - max(self._arrived_at, self._done_at) >= SETTLE_SECONDS:
            self._account = _packed(self.tally, self._word["sent"], drops)

    def poll_words(self, now: float) -> Iterator[bytes]:
        """Yield what is to be said now: a word, and the part of our account that the peer wants."""
        if now < self._next_word_at:
            return
        self._next_word_at = now + WORD_SECONDS
        word = {
            "hears": self.peer.hex() if self.peer else "",
            "sent": self.sent,
            "is_done": self._is_done,
            "is_stopped": self.is_stopped,
            "parts": len(self._account),
            "wants": self._wanted(),
            "has_all": self._has_all(),
        }
        yield self._frame(WORD, 0, json.dumps(word).encode())
        wants = self._word.get("wants")
        if wants is not None and wants < len(self._account):
            # The peer wants the rest as well, if it gets this one.
            for number in range(wants, min(wants + _PARTS_AT_ONCE, len(self._account))):
                yield self._frame(PART, number, self._account[number])

    def last_words(self) -> Iterator[bytes]:
        """Yield the last word often enough that the peer need not wait for more."""
        for _ in range(_LAST_WORDS):
            self._next_word_at = 0.0
            yield from self.poll_words(0.0)

    def _frame(self, kind: int, number: int, body: bytes) -> bytes:
        return probes.build(
            kind, target=self._target, source=self._address, sender=self._sender, number=number, body=body
        )

    def _wanted(self) -> int | None:
        """The first part of the peer's account that is missing."""
        count = self._word.get("parts", 0)
        return next((number for number in range(count) if number not in self._parts), None)

    def _has_all(self) -> bool:
        return bool(self._word.get("parts", 0)) and self._wanted() is None

    def is_over(self, now: float) -> bool:
        """Whether both ends have everything, or nothing more can be had."""
        if self.started_at is None:
            return False
        has_told = bool(self._word.get("has_all"))
        return (self._has_all() and has_told) or now - self._heard_at >= SILENT_SECONDS

    def directions(self, drops: Drops) -> tuple[Direction | None, Direction | None]:
        """Return what became of our probes, if the peer has told, and of the peer's, if any came."""
        is_complete = bool(self._word.get("is_done"))
        sent = self._word["sent"] if is_complete else None
        record = self.tally.record(sent)
        ours, theirs = self._told(drops), None
        if record.frames:
            far = ours[1] if ours else Drops()
            dropped = drops.receiving + far.sending
            tally = self.tally
            theirs = Direction(record, tally.duplicated, tally.reordered, tally.altered, dropped, is_complete)
        return (ours[0] if ours else None), theirs

    def _told(self, drops: Drops) -> tuple[Direction, Drops] | None:
        """Return the peer's account of our probes, and what the peer's box has dropped."""
        if not self._has_all():
            return None
        head, _, packed = zlib.decompress(
            b"".join(self._parts[number] for number in range(self._word["parts"]))
        ).partition(b"\n")
        told = json.loads(head)
        lost = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=told["frames"]).astype(np.bool_)
        far = Drops(sending=told["dropped_sending"], receiving=told["dropped_receiving"])
        counts = (told["duplicated"], told["reordered"], told["altered"])
        return Direction(Record(lost), *counts, drops.sending + far.receiving, True), far


def _read_word(body: bytes) -> dict[str, Any] | None:
    """Return a peer's word; nothing if it makes no sense, which nobody but a stranger says."""
    try:
        word = json.loads(body)
        numbers = [word["sent"], word["parts"], 0 if word["wants"] is None else word["wants"]]
        flags = [word["is_done"], word["is_stopped"], word["has_all"]]
    except (ValueError, KeyError, TypeError):
        return None
    is_sound = all(type(one) is int and 0 <= one <= MOST_PROBES for one in numbers)
    is_sound = is_sound and all(type(one) is bool for one in flags) and isinstance(word.get("hears"), str)
    return word if is_sound else None


def _packed(tally: Tally, sent: int, drops: Drops) -> list[bytes]:
    """Return the account of a sender's probes in parts: one line of JSON, then a bit for each probe."""
    record = tally.record(sent)
    head = {
        "frames": record.frames,
        "duplicated": tally.duplicated,
        "reordered": tally.reordered,
        "altered": tally.altered,
        "dropped_sending": drops.sending,
        "dropped_receiving": drops.receiving,
    }
    packed = zlib.compress(json.dumps(head).encode() + b"\n" + np.packbits(record.lost).tobytes())
    return [packed[at : at + _PART_BYTES] for at in range(0, len(packed), _PART_BYTES)]
