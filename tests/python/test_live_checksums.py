"""Hosts that leave checksums and the cutting of frames to their card, as on any veth, with guards between."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator

import pytest

from .live_support import PATIENCE_SECONDS, is_privileged, needs_live_lab, needs_tcpdump
from .private_boxes import Boxes, private_boxes

needs_live_lab()

_SEED, _BYTES = 7, 3_000_000
_SERVE = """
import hashlib, socket, sys
is_ipv6 = ":" in sys.argv[1]
server = socket.create_server((sys.argv[1], 7000), family=socket.AF_INET6 if is_ipv6 else socket.AF_INET)
print("up", flush=True)
connection, _ = server.accept()
digest = hashlib.sha256()
while part := connection.recv(65536):
    digest.update(part)
print(digest.hexdigest(), flush=True)
"""
_SEND = """
import random, socket, sys
with socket.create_connection((sys.argv[1], 7000), timeout=10) as connection:
    connection.settimeout(30)
    connection.sendall(random.Random(int(sys.argv[2])).randbytes(int(sys.argv[3])))
"""
#: A datagram that is to be cut (UDP_SEGMENT); its last piece is shorter.
_DATAGRAM = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
    udp.setsockopt(socket.IPPROTO_UDP, 103, 1000)
    udp.sendto(bytes(range(250)) * 10, (sys.argv[1], 7001))
"""
_TAKE = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
    udp.bind(("", 7001))
    udp.settimeout(30)
    print("up", flush=True)
    print([len(udp.recv(9000)) for _ in range(3)], flush=True)
"""


#: A TAP that stays, made by a program that has promised to finish what hosts leave undone: TUNSETIFF with
#: IFF_TAP, IFF_NO_PI, IFF_VNET_HDR; TUNSETOFFLOAD with TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6; TUNSETPERSIST.
_TAP = """
import fcntl, os, struct
tap = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH22x", b"tap0", 0x5002))
fcntl.ioctl(tap, 0x400454D0, 7)
fcntl.ioctl(tap, 0x400454CB, 1)
"""
#: Two datagrams in VLAN 5 whose checksum is left undone: the first asks for it where SCTP has its own.
_TAGGED = """
import socket, struct
ip = bytes.fromhex("4500001e00004000401100000a0700010a070002")
frame = bytes.fromhex("020000000002" "020000000001" "81000005" "0800") + ip
frame += struct.pack("!HHHH", 7, 8, 10, sum(struct.unpack("!4H", ip[12:])) + 17 + 10 & 0xFFFF) + b"hi"
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as cable:
    cable.setsockopt(263, 15, 1)  # SOL_PACKET, PACKET_VNET_HDR
    cable.bind(("eth0", 0x8100))
    cable.send(struct.pack("=BBHHHH", 1, 0, 0, 0, 38, 8) + frame + bytes(2))
    cable.send(struct.pack("=BBHHHH", 1, 0, 0, 0, 38, 6) + frame)
"""


@pytest.fixture
def boxes() -> Iterator[Boxes]:
    with private_boxes() as made:
        made.cable("h1/eth0", "b1/lan")
        made.cable("b1/trunk", "b2/trunk")
        made.cable("b2/lan", "h2/eth0")
        for host, number in (("h1", 1), ("h2", 2)):
            made.run(host, ["sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6"])
            made.run(host, ["ip", "address", "add", f"10.7.0.{number}/24", "dev", "eth0"])
            made.run(host, ["ip", "address", "add", f"fd07::{number}/64", "dev", "eth0", "nodad"])
        yield made


def _transfer(boxes: Boxes, address: str) -> tuple[str, str]:
    """Send bytes from h1 to h2 by TCP; return the hash of what left and of what arrived."""
    server = boxes.start("h2", [sys.executable, "-c", _SERVE, address])
    assert server.stdout is not None
    assert server.stdout.readline() == "up\n"
    boxes.run("h1", [sys.executable, "-c", _SEND, address, str(_SEED), str(_BYTES)])
    out, _ = server.communicate(timeout=PATIENCE_SECONDS)
    return hashlib.sha256(random.Random(_SEED).randbytes(_BYTES)).hexdigest(), out.strip()


def _guards(boxes: Boxes, kind: str = "packet") -> None:
    for box in ("b1", "b2"):
        boxes.guard(box, lan=f"{kind}:lan", link="trunk")


@pytest.mark.parametrize("address", ["10.7.0.2", "fd07::2"])
@pytest.mark.parametrize("features", ["as made", "tso off gso off"])
def test_tcp_between_hosts_with_checksum_offload_arrives_whole(
    boxes: Boxes, address: str, features: str
) -> None:
    if features != "as made":
        for host in ("h1", "h2"):
            boxes.run(host, ["ethtool", "-K", "eth0", *features.split()])
    offloads = boxes.run("h1", ["ethtool", "-k", "eth0"])
    assert "tx-checksumming: on" in offloads
    assert ("tcp-segmentation-offload: on" in offloads) == (features == "as made")
    _guards(boxes)
    sent, arrived = _transfer(boxes, address)
    assert arrived == sent
    lan = boxes.counters("b1")["ports"]["lan"]
    assert lan["checksums_completed"] > 0
    assert (lan["super_frames_cut"] > 0) == (features == "as made")
    assert lan["longest_received_bytes"] == 1514
    assert lan["oversize"] == 0
    # An ordinary user's socket has room for a few super-frames, and TCP sends again what found none.
    assert lan["unfinished"] == 0 or not is_privileged()


def test_a_datagram_that_its_host_wants_cut_arrives_in_pieces(boxes: Boxes) -> None:
    _guards(boxes)
    taker = boxes.start("h2", [sys.executable, "-c", _TAKE])
    assert taker.stdout is not None
    assert taker.stdout.readline() == "up\n"
    boxes.run("h1", [sys.executable, "-c", _DATAGRAM, "10.7.0.2"])
    assert taker.stdout.readline() == "[1000, 1000, 500]\n"
    assert boxes.counters("b1")["ports"]["lan"]["super_frames_cut"] == 1


def test_a_tagged_frame_is_finished_and_keeps_its_tag_and_an_unknown_checksum_is_not_guessed(
    boxes: Boxes,
) -> None:
    needs_tcpdump()
    _guards(boxes)
    watcher = boxes.start("h2", ["tcpdump", "-i", "eth0", "-c", "1", "-nvvel", "vlan and udp"])
    assert watcher.stderr is not None
    while "listening" not in watcher.stderr.readline():
        assert watcher.poll() is None
    boxes.run("h1", [sys.executable, "-c", _TAGGED])
    out, _ = watcher.communicate(timeout=PATIENCE_SECONDS)
    assert "vlan 5" in out
    assert "[udp sum ok]" in out
    lan = boxes.counters("b1")["ports"]["lan"]
    assert (lan["checksums_completed"], lan["unfinished"]) == (1, 1)


def test_a_tap_that_promised_more_hands_over_finished_frames(boxes: Boxes) -> None:
    boxes.run("h1", [sys.executable, "-c", _TAP])
    boxes.run("h1", ["ip", "address", "flush", "dev", "eth0"])
    boxes.run("h1", ["ip", "link", "set", "tap0", "up"])
    boxes.run("h1", ["ip", "address", "add", "10.7.0.1/24", "dev", "tap0"])
    assert "tx-checksumming: on" in boxes.run("h1", ["ethtool", "-k", "tap0"])
    boxes.guard("b1", lan="tap:tap0@h1", link="trunk")
    boxes.guard("b2", lan="lan", link="trunk")
    sent, arrived = _transfer(boxes, "10.7.0.2")
    assert arrived == sent


#: One frame that the wire carries, and two that are too long for it, in between.
_LONG = """
import socket
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as cable:
    cable.bind(("eth0", 0))
    for length in (60, 3000, 3000, 61):
        cable.send(bytes.fromhex("020000000002" "020000000001" "9999") + bytes(length - 14))
"""


def test_a_frame_too_long_for_a_wire_is_dropped_and_no_other_comes_in_its_place(boxes: Boxes) -> None:
    boxes.run("h1", ["sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6"])
    for box, name in (("h1", "eth0"), ("b1", "lan")):
        boxes.run(box, ["ip", "link", "set", name, "mtu", "4000"])
    boxes.wire("b1", near="lan", far="trunk")
    boxes.run("h1", [sys.executable, "-c", _LONG])
    far = boxes.settled("b1", "far", "sent_frames", least=2)
    assert far["sent_frames"] == 2
    assert boxes.counters("b1")["ports"]["near"]["oversize"] == 2
