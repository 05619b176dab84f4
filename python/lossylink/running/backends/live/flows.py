"""Short TCP flows between the hosts: this module runs on each, as ``server ...`` and as ``client ...``.

Connections are made ahead of their turn, so that a lost SYN, which the kernel repeats after a second, delays
no flow: the published rule times a flow from its first data packet on.
"""

from __future__ import annotations

import queue
import socket
import sys
import threading

#: The port that the server listens on.
PORT = 5001
#: Connections that are made ahead.
_AHEAD = 32
#: Threads that make them: a lost SYN holds one of them up for a second.
_CONNECTORS = 4
#: How long a flow may take.
_FLOW_SECONDS = 120.0
#: How much the server reads at once.
_CHUNK = 1 << 16


def serve(address: str, size_bytes: int, flows: int) -> None:
    """Accept flows; close each when all of it has come."""
    with socket.create_server((address, PORT), backlog=_AHEAD * 2) as listener:
        print("listening", flush=True)
        for _ in range(flows):
            connection, _ = listener.accept()
            threading.Thread(target=_take, args=(connection, size_bytes), daemon=True).start()
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join(_FLOW_SECONDS)


def _take(connection: socket.socket, size_bytes: int) -> None:
    left = size_bytes
    with connection:
        while left > 0 and (data := connection.recv(_CHUNK)):
            left -= len(data)


def send(address: str, size_bytes: int, flows: int, congestion_control: str, mss_bytes: int) -> None:
    """Send flows one after another and print a line for each that is done."""
    ready: queue.Queue[socket.socket] = queue.Queue(maxsize=_AHEAD)
    left = iter(range(flows))
    lock = threading.Lock()

    def connect() -> None:
        while True:
            with lock:
                if next(left, None) is None:
                    return
            ready.put(_connection(address, congestion_control, mss_bytes))

    for _ in range(_CONNECTORS):
        threading.Thread(target=connect, daemon=True).start()
    data = bytes(size_bytes)
    for done in range(flows):
        with ready.get() as connection:
            connection.sendall(data)
            # The server closes when it has everything; then everything has been acknowledged, too.
            connection.recv(1)
        if done % 50 == 49 or done + 1 == flows:
            print(done + 1, flush=True)


def _connection(address: str, congestion_control: str, mss_bytes: int) -> socket.socket:
    connection = socket.socket()
    connection.settimeout(_FLOW_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss_bytes)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.connect((address, PORT))
    return connection


def main(arguments: list[str]) -> None:
    """Run one side."""
    side, address, size_bytes, flows, *rest = arguments
    if side == "server":
        serve(address, int(size_bytes), int(flows))
    else:
        send(address, int(size_bytes), int(flows), rest[0], int(rest[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
