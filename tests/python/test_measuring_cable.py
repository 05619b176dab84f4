"""The socket side of a measurement: a probe that the interface refuses was never sent."""

from __future__ import annotations

import errno
import socket
from typing import Any

import pytest

from lossylink.errors import UserError
from lossylink.measuring.cable import Cable
from lossylink.measuring.exchange import Drops, Exchange
from lossylink.measuring.interface import Interface, Losses


class FullLink:
    """A socket that takes so many frames and refuses the rest."""

    def __init__(self, room: int, refusal: int) -> None:
        self.taken: list[bytes] = []
        self._room, self._refusal = room, refusal

    def send(self, frame: bytes) -> int:
        if len(self.taken) == self._room:
            raise OSError(self._refusal, "refused")
        self.taken.append(frame)
        return len(frame)

    def getsockopt(self, *_: Any) -> bytes:
        return bytes(8)


def cable_on(link: FullLink) -> Cable:
    exchange = Exchange(address=bytes(6), length_bytes=100, seconds=1.0)
    taken: Any = link
    return Cable(taken, exchange, Interface("lo"))


@pytest.mark.parametrize("refusal", [errno.ENOBUFS, errno.EAGAIN])
def test_a_refused_probe_is_sent_later_under_its_number(refusal: int) -> None:
    link = FullLink(3, refusal)
    cable = cable_on(link)
    assert cable.send_probes(10) == 3
    assert cable.exchange.sent == 3
    again = FullLink(100, refusal)
    fresh = cable_on(again)
    assert (fresh.send_probes(10), fresh.exchange.sent, len(again.taken)) == (10, 10, 10)
    assert all(len(frame) == 100 for frame in again.taken)


def test_what_the_interface_refused_is_no_drop_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    cable = cable_on(FullLink(0, errno.ENOBUFS))
    before = Losses(0, 0, 0, 0)
    cable.send_probes(1)
    monkeypatch.setattr(Losses, "look", lambda _interface: Losses(0, 0, 0, sending=3))
    assert cable.drops(before) == Drops(sending=2)


def test_an_interface_that_goes_down_is_one_line() -> None:
    with pytest.raises(UserError, match="cannot send on lo: "):
        cable_on(FullLink(0, errno.ENETDOWN)).send_probes(1)


def test_the_numbers_of_linux_are_those_of_its_headers() -> None:
    """PACKET_STATISTICS of a new socket: two counters, both at zero."""
    try:
        link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    except PermissionError:
        pytest.skip("packet sockets need CAP_NET_RAW")
    with link:
        exchange = Exchange(address=bytes(6), length_bytes=100, seconds=1.0)
        assert Cable(link, exchange, Interface("lo")).dropped_at_socket() == 0
