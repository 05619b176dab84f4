"""Captures of link-level retry: tshark, with its dissector, reads what the simulator records."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lossylink import _native
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve

from .test_capture import read
from .test_capture import tshark as tshark

PACKETS = 2_000
MALFORMED = "_ws.malformed or llr.expert.malformed or ip.checksum.status == 0 or udp.checksum.status == 0"


@pytest.fixture(scope="module")
def lossy_link(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A stress test over a link that loses the frame with index 12 on the wire: its capture and its row."""
    path = tmp_path_factory.mktemp("capture") / "link.pcapng"
    settings = {"loss.forward": "at:12", "traffic.packets": PACKETS}
    scenario = resolve("stress", settings=settings, protection=["none"], seed=1)
    config = configuration(scenario, scenario.protections[0])
    config |= {"protection": {"family": "llr"}, "pcap": {"hop": "sw2-sw6", "path": str(path)}}
    return path, _native.Simulation(json.dumps(config)).run()["row"]


# LLR-22
def test_every_frame_has_a_number_and_its_contents(tshark: str, lossy_link: tuple[Path, Any]) -> None:
    path, _ = lossy_link
    assert not read(tshark, path, ["frame.number"], only=MALFORMED)
    fields = ["llr.number", "llr.next", "llr.poisoned", "data.data", "udp.checksum.status", "frame.len"]
    frames = read(tshark, path, fields, only="llr.kind == 0 and llr.replay == 0")
    assert [int(frame["llr.number"]) for frame in frames] == list(range(PACKETS))
    assert [int(frame["data.data"][:16], 16) for frame in frames] == list(range(PACKETS))
    assert {(frame["llr.next"], frame["llr.poisoned"]) for frame in frames} == {("0x0800", "0")}
    assert {int(frame["frame.len"]) for frame in frames} == {1514 + 6}


# LLR-10, LLR-11
def test_the_dialogue_of_a_loss_can_be_followed(tshark: str, lossy_link: tuple[Path, Any]) -> None:
    path, _ = lossy_link
    (lost,) = read(tshark, path, ["llr.number", "frame.number"], only="frame.packet_flags_crc_error == 1")
    assert lost["llr.number"] == "12"
    (nack,) = read(tshark, path, ["llr.number", "frame.number", "_ws.col.Info"], only="llr.kind == 2")
    assert (nack["llr.number"], nack["_ws.col.Info"]) == ("11", "NACK up to 11")
    again = read(tshark, path, ["llr.number", "frame.number", "_ws.col.Info"], only="llr.replay == 1")
    numbers = [int(frame["llr.number"]) for frame in again]
    assert numbers == list(range(12, 12 + len(numbers)))
    assert again[0]["_ws.col.Info"].startswith("[12 sent again] ")
    order = [int(frame["frame.number"]) for frame in (lost, nack, again[0])]
    assert order == sorted(order)
    acks = read(tshark, path, ["llr.number"], only="llr.kind == 1")
    assert int(acks[-1]["llr.number"]) == PACKETS - 1


#: Frames that no simulator makes: what follows the Ethernet header, and what the summary says.
ODD_FRAMES = [
    ("03 00 00 07 be ef 00 00", "INIT, next is 7, data 0xbeef"),
    ("04 0f ff ff 00 01 00 00", "INIT_ECHO, next is 1048575, data 0x0001"),
    ("c0 01 23 45 88 b9 55", "[74565 sent again]"),
    ("00 00 00 01 08 00", "[1]"),
]
#: Control frames of which none is a frame of link-level retry.
BAD_FRAMES = ["05 00 00 00 00 00 00 00", "81 00 00 00 00 00 00 00", "00 00 01", "01 00 00 00"]


def _write(path: Path, bodies: Sequence[str]) -> None:
    """Write a pcap of Ethernet frames with these bodies."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
        for body in bodies:
            frame = bytes(range(12)) + b"\x88\xb6" + bytes.fromhex(body)
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


# LLR-21, LLR-22
def test_what_only_a_live_link_carries_isread(tshark: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.pcap"
    _write(path, [body for body, _ in ODD_FRAMES])
    frames = read(tshark, path, ["_ws.col.Info", "llr.poisoned"], only="llr")
    assert not read(tshark, path, ["frame.number"], only="llr.expert.malformed")
    assert all(
        frame["_ws.col.Info"].startswith(text) for frame, (_, text) in zip(frames, ODD_FRAMES, strict=True)
    )
    assert [frame["llr.poisoned"] for frame in frames] == ["", "", "1", "0"]


# LLR-21
def test_garbage_is_marked_as_malformed(tshark: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.pcap"
    _write(path, BAD_FRAMES)
    assert len(read(tshark, path, ["frame.number"], only="llr.expert.malformed")) == len(BAD_FRAMES)
