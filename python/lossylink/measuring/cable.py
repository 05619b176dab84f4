"""Sends and receives the probes of an `Exchange` through a packet socket, at a set rate."""

from __future__ import annotations

import errno
import select
import signal
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Final

from lossylink.declared.job import Progress
from lossylink.errors import UserError
from lossylink.measuring.exchange import Direction, Drops, Exchange
from lossylink.measuring.interface import Interface, Losses
from lossylink.measuring.probes import ETHERTYPE

#: Numbers of Linux that Python's socket module lacks.
_SOL_PACKET, _PACKET_STATISTICS, _SO_RCVBUFFORCE = 263, 6, 33
#: Room for frames while this process is kept from running: seconds of the largest rate.
_RECEIVE_BYTES = 64 << 20
_LONGEST_FRAME_BYTES = 16_384
#: Frames taken, and probes sent, before the other is looked at.
_BATCH = 64
#: A late wake-up sends what is due within this time at once, and gives up the rest: a longer burst would
#: overflow the queues that it passes.
_CATCH_UP_SECONDS: Final = 0.005
_LONGEST_WAIT_SECONDS: Final = 0.01


@dataclass(frozen=True)
class Measured:
    """What both ends know at the end."""

    ours: Direction | None
    """From here to the peer; nothing if the peer fell silent before it told."""
    theirs: Direction | None
    """From the peer to here; nothing if no probe came."""
    seconds: float
    """How long probes were sent."""
    is_shorter: bool
    """Whether an end was stopped before its time, or the peer fell silent."""


def measure(
    interface: Interface,
    *,
    rate_per_s: float,
    length_bytes: int,
    seconds: float,
    wait_seconds: float,
    report: Progress,
) -> Measured:
    """Meet the peer, send probes, and exchange accounts; Ctrl-C ends the sending and keeps what is known."""
    with _stop_signals() as stop, _open(interface) as link:
        exchange = Exchange(address=interface.address, length_bytes=length_bytes, seconds=seconds)
        cable = Cable(link, exchange, interface)
        _meet(cable, stop, interface.name, wait_seconds)
        before = Losses.look(interface)
        cable.dropped_at_socket()  # what came before does not count
        seconds_sent = _exchange(cable, stop, before, rate_per_s, seconds, report)
        ours, theirs = exchange.directions(cable.drops(before))
    if ours is None and theirs is None:
        raise UserError("the peer fell silent before a probe came; look at the link, then measure again")
    is_shorter = exchange.is_stopped or ours is None or theirs is None or not theirs.is_complete
    return Measured(ours, theirs, seconds_sent, is_shorter)


def _meet(cable: Cable, stop: list[bool], name: str, wait_seconds: float) -> None:
    until = time.monotonic() + wait_seconds
    while not cable.exchange.is_met:
        cable.turn(_LONGEST_WAIT_SECONDS)
        if stop:
            raise KeyboardInterrupt
        if time.monotonic() >= until and not cable.exchange.is_met:
            peer = f"no peer answered on {name} within {wait_seconds:g} s"
            raise UserError(f"{peer}: run the same command on the other box, or add --counters")


def _exchange(
    cable: Cable, stop: list[bool], before: Losses, rate_per_s: float, seconds: float, report: Progress
) -> float:
    """Send and receive until both ends know everything; returns for how long probes were sent."""
    exchange = cable.exchange
    began = ended = due_from = time.monotonic()
    while True:
        now = time.monotonic()
        if stop:
            exchange.stop()
        if exchange.is_sending(now):
            due_from = max(due_from, now - _CATCH_UP_SECONDS - 1 / rate_per_s)
            due_from += cable.send_probes(min(_BATCH, int((now - due_from) * rate_per_s))) / rate_per_s
            ended = now
            report(min(now - began, seconds), seconds)
            wait = max(0.0, due_from + 1 / rate_per_s - time.monotonic())
        else:
            exchange.settle(now, cable.drops(before))
            wait = _LONGEST_WAIT_SECONDS
        cable.turn(min(wait, _LONGEST_WAIT_SECONDS))
        if exchange.is_over(time.monotonic()):
            cable.say(exchange.last_words())
            return ended - began


class Cable:
    """The socket of an exchange, and what it has dropped."""

    def __init__(self, link: socket.socket, exchange: Exchange, interface: Interface) -> None:
        self.exchange = exchange
        self._link, self._interface = link, interface
        self._dropped = self._refused = 0
        self._room = memoryview(bytearray(_LONGEST_FRAME_BYTES))

    def turn(self, wait_seconds: float) -> None:
        """Say what is due and take what has arrived, waiting for it if there is time."""
        self.say(self.exchange.poll_words(time.monotonic()))
        select.select([self._link], [], [], wait_seconds)
        for _ in range(_BATCH):
            try:
                length = self._link.recv_into(self._room)
            except BlockingIOError:
                return
            except OSError as error:
                raise UserError(f"{self._interface.name} went down: {error.strerror}") from None
            self.exchange.handle_frame(time.monotonic(), self._room[:length])

    def say(self, frames: Iterator[bytes]) -> None:
        """Send words; one that is refused is said again anyway."""
        for frame in frames:
            self._send(frame)

    def send_probes(self, count: int) -> int:
        """Send so many probes, fewer if the interface is full; returns how many."""
        for number in range(count):
            if not self._send(self.exchange.probe()):
                return number
            self.exchange.confirm()
        return count

    def _send(self, frame: bytes) -> bool:
        try:
            self._link.send(frame)
        except OSError as error:
            if error.errno not in {errno.EAGAIN, errno.ENOBUFS}:
                raise UserError(f"cannot send on {self._interface.name}: {error.strerror}") from None
            self._refused += error.errno == errno.ENOBUFS
            return False
        return True

    def dropped_at_socket(self) -> int:
        """Return the frames that the socket had no room for since the last call."""
        told = self._link.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        _, dropped = struct.unpack("II", told)
        return int(dropped)

    def drops(self, before: Losses) -> Drops:
        """Return what this box has dropped since that look."""
        self._dropped += self.dropped_at_socket()
        now = Losses.look(self._interface)
        return before.until(now, at_sockets=self._dropped, refused=self._refused)


@contextmanager
def _open(interface: Interface) -> Iterator[socket.socket]:
    """Open a packet socket that takes the EtherType of probes alone."""
    name = interface.name
    try:
        link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    except PermissionError:
        raise UserError(f"frames on {name} need CAP_NET_RAW: run the command as root") from None
    with link:
        try:
            link.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RECEIVE_BYTES)
        except PermissionError:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BYTES)
        try:
            link.bind((name, ETHERTYPE))
        except OSError as error:
            raise UserError(f"cannot open {name}: {error.strerror}; ip link set {name} up") from None
        link.setblocking(False)
        yield link


@contextmanager
def _stop_signals() -> Iterator[list[bool]]:
    """Give a list that is filled by Ctrl-C or SIGTERM; a second one ends at once."""
    stop: list[bool] = []

    def note(_number: int, _frame: FrameType | None) -> None:
        if stop:
            raise KeyboardInterrupt
        stop.append(True)

    kinds = (signal.SIGINT, signal.SIGTERM)
    former = [signal.signal(kind, note) for kind in kinds]
    try:
        yield stop
    finally:
        for kind, handler in zip(kinds, former, strict=True):
            signal.signal(kind, handler)
