"""Long TCP flows side by side: ``long_flows.py server|client JSON`` on either host of a guest.

Both sides wait in the kernel for large pieces: to wake a program costs far more than a segment.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from typing import Any

#: The port that the server listens on.
PORT = 5001
_PIECE_BYTES = 1 << 24
#: Where the figures of ``struct tcp_info`` (linux/tcp.h) stand, and how they are packed.
_TCP_INFO_BYTES = 248
_INFO = {
    "rtt_us": (68, "I"),
    "cwnd_segments": (80, "I"),
    "retransmissions": (100, "I"),
    "bytes_received": (128, "Q"),
    "segments_sent": (136, "I"),
    "min_rtt_us": (148, "I"),
}


def info(connection: socket.socket) -> dict[str, int]:
    """Return what TCP tells of a connection."""
    data = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    return {name: struct.unpack_from(kind, data, at)[0] for name, (at, kind) in _INFO.items()}


def serve(told: dict[str, Any]) -> None:
    """Take flows, and tell what has come at the instants that the client names."""
    with socket.create_server((told["address"], PORT), backlog=told["flows"] + 1) as listener:
        print("listening", flush=True)
        connections = [listener.accept()[0] for _ in range(told["flows"])]
    for connection in connections:
        threading.Thread(target=_take, args=(connection, told["window_bytes"]), daemon=True).start()
    begin = time.monotonic()
    for seconds in told["looks_seconds"]:
        time.sleep(max(0.0, begin + seconds - time.monotonic()))
        at = time.monotonic() - begin
        received = [info(connection)["bytes_received"] for connection in connections]
        print("look", json.dumps({"at": at, "received": received}), flush=True)


def _take(connection: socket.socket, window_bytes: int) -> None:
    piece = bytearray(_PIECE_BYTES)
    connection.recv(1)
    # With the first segment the kernel learns what segments take of its buffer, and sets the window by that.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window_bytes)
    while connection.recv_into(piece, len(piece), socket.MSG_WAITALL):
        pass


def send(told: dict[str, Any]) -> None:
    """Send until the end, and tell what TCP thinks from time to time."""
    connections = []
    for _ in range(told["flows"]):
        connection = socket.socket()
        options = told["options"]
        control = options["congestion_control"].encode()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, options["mss_bytes"])
        connection.connect((told["address"], PORT))
        connections.append(connection)
    begin = time.monotonic()
    for connection in connections:
        threading.Thread(target=_give, args=(connection,), daemon=True).start()
    for seconds in told["samples_seconds"]:
        time.sleep(max(0.0, begin + seconds - time.monotonic()))
        flows = [info(connection) for connection in connections]
        print("sample", json.dumps({"at": time.monotonic() - begin, "flows": flows}), flush=True)


def _give(connection: socket.socket) -> None:
    piece = bytes(_PIECE_BYTES)
    while True:
        connection.sendall(piece)


def main(side: str, text: str) -> None:
    """Run one side."""
    (serve if side == "server" else send)(json.loads(text))


if __name__ == "__main__":
    main(*sys.argv[1:])
