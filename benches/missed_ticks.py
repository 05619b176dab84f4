"""Measure how often a timer of this machine's kernel fires a tick late, as it does on several cores.

``python benches/missed_ticks.py`` connects two network namespaces, makes the far address unreachable behind
an established connection, sends two segments, and times the loss probe that follows. It prints by how many
jiffies the probes came later than their timers are long: less than one, if no tick was missed (TCP-4 in
``docs/protocols/tcp.md``). It needs root and ``ip``; all traffic stays in the two namespaces.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import multiprocessing
import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

NEAR, FAR, PORT = "lossylink-ticks-near", "lossylink-ticks-far", 5000
NEAR_ADDRESS, FAR_ADDRESS = "10.9.9.1", "10.9.9.2"
NOBODY = "02:00:00:00:00:99"
SEGMENT = b"x" * 1448
TIMESTAMP = 35
"""``SO_TIMESTAMPNS`` and the control message of that name (Linux)."""
OUTGOING = 4
"""``PACKET_OUTGOING``."""
CLONE_NEWNET = 0x4000_0000
EVERY_PROTOCOL = 3
"""``ETH_P_ALL``: sockets of one protocol do not see what leaves."""
ROUND_TRIP_AT = 8 + 15 * 4
"""Where ``tcp_info`` has the smoothed round trip; the timeout is at 8."""
PROBE_SLACK_US = 2000
"""Linux 6.6 and later: two round trips and 2 ms, rounded up to jiffies, but not beyond the timeout."""


def ip(*words: str) -> None:
    """Run ``ip``."""
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@contextmanager
def namespaces() -> Iterator[None]:
    """Two connected namespaces, of which nothing is left behind."""
    try:
        for name in (NEAR, FAR):
            ip("netns", "add", name)
        ip("link", "add", "v0", "netns", NEAR, "type", "veth", "peer", "name", "v1", "netns", FAR)
        for name, address, interface in ((NEAR, NEAR_ADDRESS, "v0"), (FAR, FAR_ADDRESS, "v1")):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", interface)
            ip("-n", name, "link", "set", interface, "up")
        ip("-n", NEAR, "route", "change", "10.9.9.0/24", "dev", "v0", "rto_min", "1ms")
        yield
    finally:
        for name in (NEAR, FAR):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def enter(name: str) -> None:
    """Move this process to a namespace."""
    with open(f"/var/run/netns/{name}") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter the network namespace {name}")


def serve() -> None:
    """Accept connections at the far end, and take what comes."""
    enter(FAR)
    with socket.create_server((FAR_ADDRESS, PORT)) as listener:
        while True:
            connection, _ = listener.accept()
            with connection:
                while connection.recv(65_536):
                    pass


def leaving_s(capture: socket.socket, until: float) -> Iterator[float]:
    """When each TCP packet with data left the near interface, until an instant of the monotonic clock."""
    while time.monotonic() < until:
        try:
            data, control, _, sender = capture.recvmsg(2048, 64)
        except BlockingIOError:
            time.sleep(0.0005)
            continue
        is_tcp = data[12:14] == b"\x08\x00" and data[23] == socket.IPPROTO_TCP
        if sender[2] == OUTGOING and is_tcp and len(data) > len(SEGMENT):
            seconds, nanoseconds = struct.unpack("qq", control[0][2])
            yield seconds + nanoseconds / 1e9


def probe(capture: socket.socket, pause_s: float, jiffy_us: int) -> tuple[float, int] | None:
    """How many jiffies after two segments the probe left, and how many its timer has; nothing without one."""
    connection = socket.create_connection((FAR_ADDRESS, PORT))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.send(b"x" * 100)
    time.sleep(0.002)
    ip("-n", NEAR, "neigh", "replace", FAR_ADDRESS, "lladdr", NOBODY, "dev", "v0", "nud", "permanent")
    try:
        time.sleep(pause_s)
        for _ in range(2):
            connection.send(SEGMENT)
        information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        timeout_us, round_trip_us = (
            struct.unpack_from("I", information, place)[0] for place in (8, ROUND_TRIP_AT)
        )
        left = list(leaving_s(capture, time.monotonic() + 12 * jiffy_us / 1e6))
    finally:
        ip("-n", NEAR, "neigh", "del", FAR_ADDRESS, "dev", "v0")
        connection.close()
    wait_us = min(2 * round_trip_us + PROBE_SLACK_US, timeout_us)
    return ((left[2] - left[1]) * 1e6 / jiffy_us, -(-wait_us // jiffy_us)) if len(left) > 2 else None


def measure(trials: int, jiffy_us: int) -> list[tuple[float, int]]:
    """Time as many probes."""
    with namespaces():
        far = multiprocessing.get_context("fork").Process(target=serve, daemon=True)
        far.start()
        try:
            enter(NEAR)
            time.sleep(0.3)
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL)) as capture:
                capture.bind(("v0", EVERY_PROTOCOL))
                capture.setsockopt(socket.SOL_SOCKET, TIMESTAMP, 1)
                capture.setblocking(False)
                pauses_s = (trial * 7 % 4001 / 1e6 for trial in range(trials))
                found = [probe(capture, pause_s, jiffy_us) for pause_s in pauses_s]
        finally:
            far.terminate()
            far.join()
    return [one for one in found if one is not None]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--hertz", type=int, default=250, help="CONFIG_HZ of this kernel (default 250)")
    options = parser.parse_args()
    found = measure(options.trials, 1_000_000 // options.hertz)
    beyond = collections.Counter(int(took - length) for took, length in found)
    print(f"{len(found)} probes on {os.cpu_count()} cores, Linux {os.uname().release}")
    for jiffies, count in sorted(beyond.items()):
        print(f"  {jiffies} to {jiffies + 1} jiffies beyond the timer: {count / len(found):.1%}")


if __name__ == "__main__":
    main()
