"""VLANs across guarded links: tags stay, and full frames with tags fit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .live_support import PATIENCE_SECONDS, needs_live_lab, until
from .private_boxes import private_boxes

needs_live_lab()


#: Sends full frames with two VLAN tags, which a kernel without VLAN interfaces does as well.
_SEND = """
import socket, struct, sys
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as cable:
    cable.bind(("eth0", 0))
    tags = struct.pack("!HHHHH", 0x88A8, 7, 0x8100, 8, 0x0800)
    for number in range(int(sys.argv[1])):
        cable.send(bytes.fromhex("020000000002020000000001") + tags + struct.pack("!I", number) + bytes(1496))
"""
#: Prints which of them arrive whole, until all have; the kernel takes the outer tag off and tells it apart.
_RECEIVE = """
import socket, struct, sys
seen = set()
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as cable:
    cable.bind(("eth0", 3))
    print("up", flush=True)
    while len(seen) < int(sys.argv[1]):
        frame = cable.recv(65536)
        tags = frame[12:-1500]
        ours = frame[:6] == bytes.fromhex("020000000002")
        if ours and tags.hex() in ("810000080800", "88a80007810000080800"):
            seen.add(struct.unpack("!I", frame[-1500:-1496])[0])
print(sorted(seen))
"""
_FRAMES = 30


# G-2, G-4: parity is the longest frame of all, and a seal is longer by eight bytes.
@pytest.mark.parametrize("protection", ["lg", "fec:4/2", "llr"])
def test_full_frames_with_tags_cross_a_guarded_link(tmp_path: Path, protection: str) -> None:
    key = tmp_path / "link.key"
    key.write_text("a secret that nobody else knows\n")
    key.chmod(0o600)
    with private_boxes() as boxes:
        boxes.between_hosts()
        for box, name in (("h1", "eth0"), ("b1", "lan"), ("b2", "lan"), ("h2", "eth0")):
            boxes.run(box, ["ip", "link", "set", name, "mtu", "1508"])  # a veth counts tags as contents
        for box in ("b1", "b2"):
            boxes.guard(box, "-p", protection, "--key-file", str(key), lan="lan", link="trunk")

        def is_agreed() -> bool:
            return all(boxes.counters(box)["guards"]["guard"]["peer"] == "agreed" for box in ("b1", "b2"))

        until(is_agreed, seconds=PATIENCE_SECONDS, what="agreement")
        receiver = boxes.start("h2", [sys.executable, "-c", _RECEIVE, str(_FRAMES)])
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "up\n"
        boxes.run("h1", [sys.executable, "-c", _SEND, str(_FRAMES)])
        received, problem = receiver.communicate(timeout=PATIENCE_SECONDS)
        assert received == f"{list(range(_FRAMES))}\n", problem
        far = boxes.counters("b2")["guards"]["guard"]
        assert (far["no_room"], far["reserved"], far["foreign"]) == (0, 0, 0)
