"""Short TCP flows one after another: ``short_flows.py server|client JSON`` on either host of a guest.

A flow that has not ended in time is given up, and the next one begins.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import struct
import sys
import threading
import time
from typing import Any

#: The port that the server listens on.
PORT = 5001
#: The server closes so long after the last byte: the ACK of that byte is TCP's own, and no close brings it.
_LINGER_SECONDS = 0.25
#: Pause before a flow, at least, and how much longer it may be: flows begin anywhere between two ticks.
_PAUSE_SECONDS, _SPREAD_SECONDS = 0.005, 0.004
_CHUNK_BYTES = 1 << 16
#: A file that the client makes when its last flow is over, and how often the server looks for it.
_OVER, _LOOK_SECONDS = "over", 1.0


def serve(address: str, size_bytes: int) -> None:
    """Take flows until the client says that all are over."""
    over = os.path.join(os.environ["LOSSYLINK_WORK"], _OVER)
    with socket.create_server((address, PORT)) as listener:
        print("listening", flush=True)
        listener.settimeout(_LOOK_SECONDS)
        while not os.path.exists(over):
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            # The reset of a flow that was given up may be lost: the next flow does not wait for it.
            threading.Thread(target=_take, args=(connection, size_bytes), daemon=True).start()


def _take(connection: socket.socket, size_bytes: int) -> None:
    left = size_bytes
    connection.settimeout(None)
    with connection:
        try:
            while left > 0 and (data := connection.recv(_CHUNK_BYTES)):
                left -= len(data)
        except OSError:
            return
        time.sleep(_LINGER_SECONDS)


def send(
    address: str, size_bytes: int, flows: int, patience_seconds: float, seed: int, options: dict[str, Any]
) -> None:
    """Send flows one after another; a line for each fiftieth that is done."""
    draws = random.Random(seed)
    data = bytes(size_bytes)
    for done in range(1, flows + 1):
        time.sleep(_PAUSE_SECONDS + draws.random() * _SPREAD_SECONDS)
        with socket.socket() as connection:
            prepare(connection, options)
            with contextlib.suppress(OSError):  # The record shows that this flow did not end.
                _send(connection, (address, PORT), data, patience_seconds)
            # A reset answers: a FIN that is lost would be repeated.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if done % 50 == 0 or done == flows:
            print("done", done, flush=True)
    open(os.path.join(os.environ["LOSSYLINK_WORK"], _OVER), "w").close()


def _send(connection: socket.socket, address: tuple[str, int], data: bytes, patience_seconds: float) -> None:
    """Send all, and wait until the server closes, which it does when it has everything."""
    end = time.monotonic() + patience_seconds
    for act in (
        lambda: connection.connect(address),
        lambda: connection.sendall(data),
        lambda: connection.recv(1),
    ):
        connection.settimeout(max(end - time.monotonic(), 1e-3))
        act()


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
        serve(told["address"], told["size_bytes"])
    else:
        send(**told)


if __name__ == "__main__":
    main(*sys.argv[1:])
