"""Bursts of TCP that cross the edge of a host whole, and the link frame by frame."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator

import pytest

from lossylink.linux.lab import Lab
from lossylink.linux.lab.settings import HEADROOM_BYTES

from .live_support import PATIENCE_SECONDS, lab, needs_live_lab
from .private_boxes import Boxes, private_boxes
from .test_live_checksums import _SEND, _SERVE

needs_live_lab()

_SEED, _BYTES = 11, 20_000_000
#: A full frame of the hosts.
_FRAME_BYTES = 1514


def _through(up: Lab, sender: str, receiver: str, address: str) -> tuple[str, str]:
    """Send bytes by TCP; return the hash of what left and of what arrived."""
    server = up.start(receiver, [sys.executable, "-c", _SERVE, address])
    assert server.stdout is not None
    assert server.stdout.readline() == "up\n"
    up.run(sender, [sys.executable, "-c", _SEND, address, str(_SEED), str(_BYTES)], seconds=PATIENCE_SECONDS)
    out, _ = server.communicate(timeout=PATIENCE_SECONDS)
    return hashlib.sha256(random.Random(_SEED).randbytes(_BYTES)).hexdigest(), out.strip()


@pytest.mark.parametrize("protection", ["none", "lg", "fec:10/3"])
def test_what_hosts_send_in_bursts_crosses_the_link_in_frames(protection: str) -> None:
    with lab(rate_bps=10**10, protection=protection, loss_forward="0.1%", loss_reverse="0.1%") as up:
        for sender, receiver, address in (("h4", "h8", "10.2.2.2"), ("h8", "h4", "10.2.2.1")):
            sent, arrived = _through(up, sender, receiver, address)
            assert arrived == sent
        link = up.link.counters()
        for port in link["ports"].values():
            assert port["super_frames_cut"] > 0
            assert port["super_frames_joined"] > 0
            assert port["longest_received_bytes"] == _FRAME_BYTES
            assert port["unfinished"] == port["oversize"] == 0
        for direction in link["directions"].values():
            longest = direction["longest_frame_bytes"]
            assert _FRAME_BYTES <= longest <= _FRAME_BYTES + HEADROOM_BYTES
            assert direction["frames_lost"] > 0


@pytest.mark.parametrize(("rate_bps", "offloads"), [(10**9, None), (10**10, False)])
def test_hosts_without_offloads_send_each_frame_by_itself(rate_bps: int, offloads: bool | None) -> None:
    with lab(rate_bps=rate_bps, offloads=offloads) as up:
        sent, arrived = _through(up, "h4", "h8", "10.2.2.2")
        assert arrived == sent
        for port in up.ports():
            assert port["super_frames_cut"] == port["super_frames_joined"] == port["checksums_completed"] == 0


def test_guards_in_boxes_of_their_own_join_for_their_hosts() -> None:
    with lab(rate_bps=10**10, split=True, port="packet", protection="lg", loss_forward="0.1%") as up:
        sent, arrived = _through(up, "h4", "h8", "10.2.2.2")
        assert arrived == sent
        near, far = (up.plane(box).counters()["ports"] for box in ("sw2", "sw6"))
        assert near["lan"]["super_frames_cut"] > 0
        assert far["lan"]["super_frames_joined"] > 0
        for port in (near["link"], far["link"], *up.link.counters()["ports"].values()):
            assert port["super_frames_cut"] == port["super_frames_joined"] == 0


@pytest.fixture
def boxes() -> Iterator[Boxes]:
    with private_boxes() as made:
        made.between_hosts()
        yield made


@pytest.mark.parametrize("options", [[], ["--no-offloads"]])
def test_guards_on_real_interfaces_join_unless_told_not_to(boxes: Boxes, options: list[str]) -> None:
    for box in ("b1", "b2"):
        boxes.guard(box, *options, lan="lan", link="trunk")
    server = boxes.start("h2", [sys.executable, "-c", _SERVE, "10.9.0.2"])
    assert server.stdout is not None
    assert server.stdout.readline() == "up\n"
    boxes.run("h1", [sys.executable, "-c", _SEND, "10.9.0.2", str(_SEED), str(_BYTES)])
    out, _ = server.communicate(timeout=PATIENCE_SECONDS)
    assert out.strip() == hashlib.sha256(random.Random(_SEED).randbytes(_BYTES)).hexdigest()
    lan = boxes.counters("b2")["ports"]["lan"]
    assert (lan["super_frames_joined"] > 0) == (not options)
    assert lan["unfinished"] == lan["oversize"] == lan["send_refused"] == 0
