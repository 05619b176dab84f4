"""A switch that answers over Thrift as simple_switch does, and keeps what it is told."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import thriftpy2
from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TException, TMultiplexedProcessor, TProcessor
from thriftpy2.transport import TBufferedTransport, TSocket

from lossylink.linux.bmv2 import runtime

INTERFACE: Any = thriftpy2.load(
    str(Path(runtime.__file__).with_name("runtime.thrift")), module_name="fake_switch_thrift"
)


class FakeSwitch:
    """What the switch keeps; each method is a call of the interface, by its name."""

    def __init__(self) -> None:
        self.registers = {"sums": [0] * 4}
        self.counters = {"events": [0] * 3}
        self.defaults: dict[str, tuple[str, list[bytes]]] = {}
        self.nodes: dict[int, tuple[int, str]] = {}
        self.groups: dict[int, list[int]] = {}
        self.sizes: list[int] = []
        """Members of a group after each change of it."""
        self.sessions: dict[int, Any] = {}
        self.queues: dict[tuple[str, int, int | None], int] = {}
        self.port = 0
        self.hangs_up = threading.Event()
        """Connections end instead of being answered."""
        self.hangs_up_once = threading.Event()
        """The next question ends its connection instead of being answered."""

    def members(self, group: int) -> list[tuple[int, int]]:
        """Return port and number of each member of a group."""
        nodes = [self.nodes[node] for node in self.groups[_handle(group)]]
        return [(len(ports) - 1 - ports.index("1"), rid) for rid, ports in nodes]

    def _cells(self, held: dict[str, list[int]], name: str, error: str) -> list[int]:
        if name not in held:
            raise getattr(INTERFACE, error)(code=3)
        return held[name]

    def bm_register_read(self, context: int, name: str, index: int) -> int:
        return self._cells(self.registers, name, "InvalidRegisterOperation")[index]

    def bm_register_write(self, context: int, name: str, index: int, value: int) -> None:
        self._cells(self.registers, name, "InvalidRegisterOperation")[index] = value

    def bm_register_reset(self, context: int, name: str) -> None:
        cells = self._cells(self.registers, name, "InvalidRegisterOperation")
        cells[:] = [0] * len(cells)

    def bm_counter_read(self, context: int, name: str, index: int) -> Any:
        packets = self._cells(self.counters, name, "InvalidCounterOperation")[index]
        return INTERFACE.BmCounterValue(packets=packets, bytes=64 * packets)

    def bm_counter_reset_all(self, context: int, name: str) -> None:
        cells = self._cells(self.counters, name, "InvalidCounterOperation")
        cells[:] = [0] * len(cells)

    def bm_mt_set_default_action(self, context: int, table: str, action: str, data: list[bytes]) -> None:
        if table != "table":
            raise INTERFACE.InvalidTableOperation(code=1)
        self.defaults[table] = (action, data)

    def bm_mc_mgrp_create(self, context: int, group: int) -> int:
        handle = _handle(group)
        if handle in self.groups:
            raise INTERFACE.InvalidMcOperation(code=2)
        self.groups[handle] = []
        return handle

    def bm_mc_node_create(self, context: int, rid: int, ports: str, lags: str) -> int:
        node = max(self.nodes, default=0) + 1
        self.nodes[node] = (rid, ports)
        return node

    def bm_mc_node_associate(self, context: int, handle: int, node: int) -> None:
        self.groups[handle].append(node)
        self.sizes.append(len(self.groups[handle]))

    def bm_mc_node_dissociate(self, context: int, handle: int, node: int) -> None:
        self.groups[handle].remove(node)
        self.sizes.append(len(self.groups[handle]))

    def bm_mc_node_destroy(self, context: int, node: int) -> None:
        del self.nodes[node]

    def mirroring_session_add(self, session: int, config: Any) -> None:
        self.sessions[session] = config

    def set_egress_queue_depth(self, port: int, packets: int) -> int:
        self.queues["depth", port, None] = packets
        return 0

    def set_egress_priority_queue_depth(self, port: int, priority: int, packets: int) -> int:
        self.queues["depth", port, priority] = packets
        return 0

    def set_egress_queue_rate(self, port: int, rate: int) -> int:
        self.queues["rate", port, None] = rate
        return 0

    def set_egress_priority_queue_rate(self, port: int, priority: int, rate: int) -> int:
        self.queues["rate", port, priority] = rate
        return 0


def _handle(group: int) -> int:
    """Return another number than the group's own, so that none is taken for the other."""
    return 1000 + group


@contextmanager
def serving(switch: FakeSwitch, port: int = 0) -> Iterator[FakeSwitch]:
    """Let a switch answer on a port of this machine, a free one unless said otherwise."""
    processor = TMultiplexedProcessor()
    for name, service in (
        ("standard", INTERFACE.Standard),
        ("simple_pre_lag", INTERFACE.SimplePreLAG),
        ("simple_switch", INTERFACE.SimpleSwitch),
    ):
        processor.register_processor(name, TProcessor(service, switch))
    listener = socket.create_server(("127.0.0.1", port))
    switch.port = listener.getsockname()[1]
    connections: list[socket.socket] = []

    def answer(connection: socket.socket) -> None:
        end = TSocket()
        end.set_handle(connection)
        protocol = TBinaryProtocol(TBufferedTransport(end))
        with suppress(TException, OSError):
            while connection.recv(1, socket.MSG_PEEK) and not switch.hangs_up.is_set():
                if switch.hangs_up_once.is_set():
                    switch.hangs_up_once.clear()
                    break
                processor.process(protocol, protocol)
        connection.close()

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connections.append(connection)
                thread = threading.Thread(target=answer, args=(connection,))
                threads.append(thread)
                thread.start()

    threads: list[threading.Thread] = []
    listening = threading.Thread(target=accept)
    listening.start()
    try:
        yield switch
    finally:
        # What blocks in another thread ends by this, not by closing.
        listener.shutdown(socket.SHUT_RDWR)
        listening.join()
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        listener.close()
