"""Guards over a routed path: hosts and networks that reach each other by datagrams alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from .live_support import PATIENCE_SECONDS, needs_live_lab, until
from .private_boxes import Boxes, private_boxes

needs_live_lab()

_KEY = "/run/key"
_PORT = 5000
_ADDRESSES = {"b1": "192.0.2.1", "b2": "192.0.2.2"}
_ADDRESSES_6 = {"b1": "2001:db8::1", "b2": "2001:db8::2"}
#: Sends so many bytes and prints their hash, or receives until the end and does.
_SEND = """
import hashlib, random, socket, sys
data = random.Random(1).randbytes(int(sys.argv[2]))
with socket.create_connection((sys.argv[1], 7000), timeout=60) as link:
    link.sendall(data)
print(hashlib.sha256(data).hexdigest())
"""
_RECEIVE = """
import hashlib, socket
with socket.create_server(("0.0.0.0", 7000)) as server:
    print("listening", flush=True)
    link, _ = server.accept()
    found = hashlib.sha256()
    while piece := link.recv(1 << 16):
        found.update(piece)
print(found.hexdigest())
"""


@contextmanager
def _path(*, loss: str = "none", mtu: int = 1500, version: int = 4) -> Iterator[Boxes]:
    """Yield two boxes with addresses, and a path of 10 ms between them."""
    with private_boxes() as boxes:
        boxes.cable("b1/trunk", "m/near")
        boxes.cable("m/far", "b2/trunk")
        for box, address in _ADDRESSES.items():
            if version == 4:
                boxes.run(box, ["ip", "address", "add", f"{address}/24", "dev", "trunk"])
            else:
                boxes.run(box, ["sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/trunk/disable_ipv6"])
                boxes.run(box, ["ip", "address", "add", f"{_ADDRESSES_6[box]}/64", "dev", "trunk", "nodad"])
            # A wire carries no more than a frame at a time.
            boxes.run(box, ["ethtool", "-K", "trunk", "tso", "off", "gso", "off", "gro", "off", "tx", "off"])
        boxes.run("b1", ["sh", "-c", f"umask 077; head -c 32 /dev/urandom | base64 > {_KEY}"])
        options = ("--rate", "100Mbps", "--rtt", "10ms", "--loss", loss, "--loss-reverse", loss)
        boxes.wire("m", *options, "--mtu", str(mtu), near="near", far="far")
        yield boxes


def _peer(box: str, version: int) -> str:
    addresses = _ADDRESSES if version == 4 else _ADDRESSES_6
    (other,) = (address for name, address in addresses.items() if name != box)
    return f"{other}:{_PORT}" if version == 4 else f"[{other}]:{_PORT}"


def _guard(boxes: Boxes, box: str, *options: str, version: int = 4) -> Any:
    return boxes.routed(box, *options, "--udp", _peer(box, version), "--key-file", _KEY)


def _report(boxes: Boxes, box: str) -> dict[str, Any]:
    report: dict[str, Any] = boxes.counters(box)["guards"]["guard"]
    return report


def _agree(boxes: Boxes) -> None:
    def is_agreed() -> bool:
        return all(_report(boxes, box)["agreed"] for box in _ADDRESSES)

    until(is_agreed, seconds=PATIENCE_SECONDS, what="agreement of the guards")


def _has_carrier(boxes: Boxes, box: str) -> bool:
    (link,) = json.loads(boxes.run(box, ["ip", "-j", "link", "show", "dev", "over0"]))
    return "NO-CARRIER" not in link["flags"]


def _carried(boxes: Boxes, source: str, sink: str, address: str, size: int) -> None:
    """Carry bytes from one box to another, whole."""
    receiving = boxes.start(sink, [sys.executable, "-c", _RECEIVE])
    assert receiving.stdout is not None
    assert receiving.stdout.readline() == "listening\n"
    sent = boxes.run(source, [sys.executable, "-c", _SEND, address, str(size)]).strip()
    found, complaint = receiving.communicate(timeout=PATIENCE_SECONDS)
    assert found.strip() == sent, complaint


# RT-8, RT-9, RT-10, RT-17
@pytest.mark.parametrize("version", [4, 6])
def test_whole_hosts_reach_each_other_over_a_path_that_loses(version: int) -> None:
    with _path(loss="2e-2", version=version) as boxes:
        for box, address in (("b1", "10.9.0.1/30"), ("b2", "10.9.0.2/30")):
            _guard(boxes, box, "--tun", "over0", "--address", address, version=version)
        _agree(boxes)
        until(lambda: _has_carrier(boxes, "b1"), seconds=PATIENCE_SECONDS, what="a carrier")
        _carried(boxes, "b1", "b2", "10.9.0.2", 3_000_000)
        near, far = _report(boxes, "b1"), _report(boxes, "b2")
        assert near["protection"] == near["peer_protection"] == "routed"
        assert near["path"]
        assert near["sealed"]
        assert far["routed"]["lost"] > 0
        assert far["routed"]["recovered"] > 0
        assert near["routed"]["short"] > 0, "headers that the peer has do not travel"
        assert far["routed"]["unread"] == 0
        # A thirtieth for the loss, and what is saved at the start.
        assert near["routed"]["repeated_bytes"] <= 0.3 * near["routed"]["data_bytes"] + 131_072


# RT-1
def test_a_peer_that_is_gone_takes_the_carrier_along_and_comes_back() -> None:
    with _path() as boxes:
        started = {
            box: _guard(boxes, box, "--tun", "over0", "--address", address)
            for box, address in (("b1", "10.9.0.1/30"), ("b2", "10.9.0.2/30"))
        }
        _agree(boxes)
        until(lambda: _has_carrier(boxes, "b1"), seconds=PATIENCE_SECONDS, what="a carrier")
        # A path that serves when the guarded one does not.
        boxes.run("b1", ["ip", "route", "add", "10.9.0.0/30", "via", "192.0.2.2", "metric", "100"])
        started["b2"].terminate()
        started["b2"].wait()
        until(lambda: not _has_carrier(boxes, "b1"), seconds=PATIENCE_SECONDS, what="the loss of the carrier")
        assert "via 192.0.2.2 dev trunk" in boxes.run("b1", ["ip", "route", "get", "10.9.0.2"])
        assert _report(boxes, "b1")["peer"] == "absent: dropping frames"
        assert "over0" not in boxes.run("b2", ["ip", "-o", "link"]), "its guard has removed it"
        _guard(boxes, "b2", "--tun", "over0", "--address", "10.9.0.2/30")
        until(lambda: _has_carrier(boxes, "b1"), seconds=PATIENCE_SECONDS, what="the return of the carrier")
        assert "dev over0" in boxes.run("b1", ["ip", "route", "get", "10.9.0.2"])


# RT-11, RT-12
def test_networks_of_full_frames_cross_a_path_of_less() -> None:
    with _path(loss="1e-2", mtu=1480) as boxes:
        for host, box, address in (("h1", "b1", "10.8.0.1/24"), ("h2", "b2", "10.8.0.2/24")):
            boxes.cable(f"{host}/eth0", f"{box}/lan")
            boxes.run(host, ["ip", "address", "add", address, "dev", "eth0"])
            _guard(boxes, box, "--lan", "lan")
        _agree(boxes)

        def is_searched() -> bool:
            return all(_report(boxes, box)["frame_bytes_carried"] == 1464 for box in _ADDRESSES)

        until(is_searched, seconds=PATIENCE_SECONDS, what="the search for what the path carries")
        _carried(boxes, "h1", "h2", "10.8.0.2", 1_000_000)
        near = _report(boxes, "b1")
        assert near["too_long"] > 0, "the host was told to send shorter packets"
        # 1480 octets: 47 of IP, UDP, the header of a repair and the seal, and an Ethernet header.
        told = boxes.run("h1", ["ip", "route", "get", "10.8.0.2"])
        assert "mtu 1419" in told, told


def test_what_another_guard_has_is_named_with_the_mend() -> None:
    with _path() as boxes:
        _guard(boxes, "b1", "--tun", "over0")
        for tun, port, said in (
            (
                "over0",
                "5001",
                "TUN over0 is in use, by another guard or another program: end it, or give another name",
            ),
            (
                "over1",
                "5000",
                "UDP port 5000 is in use, by another guard or another program: give both guards another port",
            ),
        ):
            options = (
                "--tun",
                tun,
                "--udp",
                f"192.0.2.2:{port}",
                "--key-file",
                _KEY,
                "--control",
                "/run/second",
            )
            second = boxes.start("b1", boxes.lossylink("guard", *options))
            _, complaint = second.communicate(timeout=PATIENCE_SECONDS)
            assert second.returncode == 2, complaint
            assert said in complaint


def test_a_path_is_not_protected_by_what_is_for_links() -> None:
    with _path() as boxes:
        for box in _ADDRESSES:
            _guard(boxes, box, "--tun", "over0")
        _agree(boxes)
        change = boxes.lossylink("guard", "set", "--control", "/run/b1.sock")
        assert "protects by none" in boxes.run("b1", [*change, "off"])
        until(
            lambda: _report(boxes, "b2")["peer_protection"] == "none", seconds=PATIENCE_SECONDS, what="none"
        )
        ended = boxes.start("b1", [*change, "lg"])
        _, complaint = ended.communicate(timeout=PATIENCE_SECONDS)
        assert ended.returncode == 2
        assert "lg is for links, and a guard with --udp tunes itself" in complaint
        assert "path: datagrams of" in boxes.run(
            "b1", boxes.lossylink("guard", "status", "--control", "/run/b1.sock")
        )
