"""Short TCP flows one after another: ``short_flows.py server|client JSON`` on either host of a guest."""

from __future__ import annotations

import json
import random
import socket
import struct
import sys
import time
from typing import Any

#: The port that the server listens on.
PORT = 5001
#: The server closes so long after the last byte: the ACK of that byte is TCP's own, and no close brings it.
_LINGER_SECONDS = 0.25
#: Pause before a flow, at least, and how much longer it may be: flows begin anywhere between two ticks.
_PAUSE_SECONDS, _SPREAD_SECONDS = 0.005, 0.004
_CHUNK_BYTES = 1 << 16


def serve(address: str, size_bytes: int, flows: int) -> None:
    """Take flows one after another."""
    with socket.create_server((address, PORT)) as listener:
        print("listening", flush=True)
        for _ in range(flows):
            connection, _ = listener.accept()
            with connection:
                left = size_bytes
                while left > 0 and (data := connection.recv(_CHUNK_BYTES)):
                    left -= len(data)
                time.sleep(_LINGER_SECONDS)


def send(address: str, size_bytes: int, flows: int, seed: int, options: dict[str, Any]) -> None:
    """Send flows one after another; a line for each fiftieth that is done."""
    draws = random.Random(seed)
    data = bytes(size_bytes)
    for done in range(1, flows + 1):
        time.sleep(_PAUSE_SECONDS + draws.random() * _SPREAD_SECONDS)
        with socket.socket() as connection:
            prepare(connection, options)
            connection.connect((address, PORT))
            connection.sendall(data)
            # The server closes when it has everything. A reset answers: a FIN that is lost would be repeated.
            connection.recv(1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if done % 50 == 0 or done == flows:
            print("done", done, flush=True)


def prepare(connection: socket.socket, options: dict[str, Any]) -> None:
    """Set what a scenario asks of a connection."""
    control = options["congestion_control"].encode()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, options["mss_bytes"])
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if options["flow_rate_bytes"]:
        connection.setsockopt(socket.SOL_SOCKET, 47, options["flow_rate_bytes"])  # SO_MAX_PACING_RATE


def main(side: str, text: str) -> None:
    """Run one side."""
    told = json.loads(text)
    if side == "server":
        serve(told["address"], told["size_bytes"], told["flows"])
    else:
        send(told["address"], told["size_bytes"], told["flows"], told["seed"], told["options"])


if __name__ == "__main__":
    main(*sys.argv[1:])
