"""Puts frames on a cable that nobody sealed: ``inject.py KIND INTERFACE SEED``, run where the cable ends.

``garbage`` has the guards' EtherTypes and random bytes, ``replay`` sends again, shuffled, what the
other cable brought in within half a second: duplicates, late frames and another order. ``alter`` changes an
octet of each of these.
"""

from __future__ import annotations

import random
import socket
import sys
import time

_ETHERTYPES = (b"\xab\xcd", b"\x88\xb5", b"\x08\x1c", b"\x88\xb6")
_ALL_PROTOCOLS = 3
_FRAMES = 500
_LISTEN_SECONDS = 0.5
#: ``sll_pkttype`` of what this machine sends itself.
_OUTGOING = 4


def garbage(rng: random.Random) -> list[bytes]:
    """Return random frames, of which some look a little like those of a guard."""
    return [
        rng.randbytes(12)
        + rng.choice(_ETHERTYPES)
        + rng.choice((b"", b"LG\x02"))
        + rng.randbytes(rng.randrange(200))
        for _ in range(_FRAMES)
    ]


def recorded(rng: random.Random, interface: str) -> list[bytes]:
    """Return what the other cable brought in for half a second, which is what this one carries out, twice."""
    other = "near" if interface == "far" else "far"
    frames = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS)) as cable:
        cable.bind((other, _ALL_PROTOCOLS))
        cable.settimeout(0.1)
        until = time.monotonic() + _LISTEN_SECONDS
        while time.monotonic() < until:
            try:
                frame, address = cable.recvfrom(10_000)
            except TimeoutError:
                continue
            if address[2] != _OUTGOING:
                frames.append(frame)
    frames *= 2
    rng.shuffle(frames)
    return frames[: 4 * _FRAMES]


def altered(rng: random.Random, frames: list[bytes]) -> list[bytes]:
    """Return frames with one octet changed, such that the kernel lets datagrams pass."""
    changed = []
    for frame in frames:
        copy = bytearray(frame)
        is_datagram = frame[12:14] == b"\x08\x00" and frame[23:24] == b"\x11"
        first = 42 if is_datagram else 14
        if is_datagram:
            # No checksum.
            copy[40:42] = bytes(2)
        if first < len(copy):
            copy[rng.randrange(first, len(copy))] ^= rng.randrange(1, 256)
            changed.append(bytes(copy))
    return changed


def main() -> None:
    """Send the frames; print how many."""
    kind, interface, seed = sys.argv[1:]
    rng = random.Random(int(seed))
    frames = garbage(rng) if kind == "garbage" else recorded(rng, interface)
    frames = altered(rng, frames) if kind == "alter" else frames
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as cable:
        cable.bind((interface, 0))
        for frame in frames:
            cable.send(frame)
    print(len(frames))


if __name__ == "__main__":
    main()
