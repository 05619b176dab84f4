"""A client of a running BMv2 switch, over the Thrift interface that `runtime.thrift` describes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from lossylink.errors import RunError, UserError

#: BMv2 can have several contexts; simple_switch has this one.
_CONTEXT = 0
#: Ports of a multicast group are written as a string of bits, the last one for port 0.
_PORTS = 64
#: The services of a switch, by the names under which they answer.
_TABLES, _GROUPS, _SWITCH = "standard", "simple_pre_lag", "simple_switch"
#: A switch answers its own machine alone.
_HOST = "127.0.0.1"
#: How long one answer may take.
_ANSWER_MS = 5000


@cache
def interface() -> Any:
    """Return the calls of a switch, as the package that speaks Thrift makes them.

    Raises
    ------
    UserError
        There is no such package here.
    """
    try:
        import thriftpy2
    except ModuleNotFoundError:
        raise UserError("software switches need the package thriftpy2: pip install 'lossylink[p4]'") from None
    path = Path(__file__).with_name("runtime.thrift")
    return thriftpy2.load(str(path), module_name="lossylink_bmv2_thrift")


class Runtime:
    """The tables, registers, counters, groups and queues of one switch.

    Raises
    ------
    RunError
        A call is refused, or the switch does not answer.
    """

    def __init__(self, port: int) -> None:
        calls = interface()
        self._thrift = calls
        self._address = (_HOST, port)
        self._services = {_TABLES: calls.Standard, _GROUPS: calls.SimplePreLAG, _SWITCH: calls.SimpleSwitch}
        self._clients = {name: self._client(name) for name in self._services}
        self._handles: dict[int, int] = {}
        self._nodes: dict[int, dict[tuple[int, int], list[int]]] = {}

    @classmethod
    def wait(cls, port: int, *, seconds: float, is_alive: Callable[[], bool]) -> Runtime:
        """Connect to a switch that is coming up; its end is noticed by ``is_alive``."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return cls(port)
            except RunError:
                if not is_alive() or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _client(self, name: str) -> Any:
        from thriftpy2.protocol import TBinaryProtocolFactory, TMultiplexedProtocolFactory
        from thriftpy2.rpc import make_client
        from thriftpy2.transport import TBufferedTransportFactory, TTransportException

        host, port = self._address
        try:
            return make_client(
                self._services[name], host, port, timeout=_ANSWER_MS,
                proto_factory=TMultiplexedProtocolFactory(TBinaryProtocolFactory(), name),
                trans_factory=TBufferedTransportFactory(),
            )  # fmt: skip
        except (TTransportException, OSError) as error:
            raise RunError(f"no switch answers at {host}:{port}: {error}") from None

    def _call(self, service: str, name: str, *arguments: Any) -> Any:
        from thriftpy2.thrift import TException
        from thriftpy2.transport import TTransportException

        try:
            try:
                return getattr(self._clients[service], name)(*arguments)
            except (TTransportException, ConnectionError) as error:
                if getattr(error, "type", None) not in {None, TTransportException.END_OF_FILE}:
                    raise
            # Thrift's servers hang up after 100 MB of questions, and do not answer the last one.
            self._clients[service].close()
            self._clients[service] = self._client(service)
            return getattr(self._clients[service], name)(*arguments)
        except (TException, OSError) as error:
            shown = ", ".join(map(str, arguments))
            raise RunError(f"the switch refused {name}({shown}): {error!r}") from None

    def close(self) -> None:
        """Hang up."""
        for client in self._clients.values():
            client.close()

    def read_register(self, name: str, index: int = 0) -> int:
        """Return one cell of a register."""
        return int(self._call(_TABLES, "bm_register_read", _CONTEXT, name, index))

    def read_registers(self, name: str) -> list[int]:
        """Return every cell of a register."""
        return list(map(int, self._call(_TABLES, "bm_register_read_all", _CONTEXT, name)))

    def write_register(self, name: str, value: int, index: int = 0) -> None:
        """Write one cell of a register."""
        self._call(_TABLES, "bm_register_write", _CONTEXT, name, index, value)

    def clear_register(self, name: str) -> None:
        """Write zeros into every cell of a register."""
        self._call(_TABLES, "bm_register_reset", _CONTEXT, name)

    def read_counter(self, name: str, index: int) -> int:
        """Return the packets that one cell of a counter has seen."""
        return int(self._call(_TABLES, "bm_counter_read", _CONTEXT, name, index).packets)

    def clear_counter(self, name: str) -> None:
        """Let a counter begin anew."""
        self._call(_TABLES, "bm_counter_reset_all", _CONTEXT, name)

    def set_default(self, table: str, action: str, *values: tuple[int, int]) -> None:
        """Set the default action of a table; each value comes with its width in bits."""
        data = [value.to_bytes((bits + 7) // 8, "big") for value, bits in values]
        self._call(_TABLES, "bm_mt_set_default_action", _CONTEXT, table, action, data)

    def set_group(self, group: int, members: Iterable[tuple[int, int]]) -> None:
        """Fill a multicast group with members, each a port and the number that its replicas get.

        Replicas are made at every instant. So a member that stays is not touched, no member stands twice that
        is wanted once, and the group is not empty in between.
        """
        if group not in self._handles:
            self._handles[group] = self._call(_GROUPS, "bm_mc_mgrp_create", _CONTEXT, group)
        nodes = self._nodes.setdefault(group, {})
        wanted, there = Counter(members), Counter({member: len(handles) for member, handles in nodes.items()})
        for member in (wanted - there).elements():
            nodes.setdefault(member, []).append(self._join(group, *member))
        for member in (there - wanted).elements():
            self._leave(group, nodes[member].pop())

    def _join(self, group: int, port: int, rid: int) -> int:
        node = self._call(_GROUPS, "bm_mc_node_create", _CONTEXT, rid, format(1 << port, f"0{_PORTS}b"), "")
        self._call(_GROUPS, "bm_mc_node_associate", _CONTEXT, self._handles[group], node)
        return int(node)

    def _leave(self, group: int, node: int) -> None:
        self._call(_GROUPS, "bm_mc_node_dissociate", _CONTEXT, self._handles[group], node)
        self._call(_GROUPS, "bm_mc_node_destroy", _CONTEXT, node)

    def mirror_to_group(self, session: int, group: int) -> None:
        """Let a mirror session lead to a multicast group."""
        config = self._thrift.MirroringSessionConfig(mgid=group)
        self._call(_SWITCH, "mirroring_session_add", session, config)

    def set_queue(
        self, port: int, *, packets: int, packets_per_second: int = 0, priority: int | None = None
    ) -> None:
        """Bound the queue of a port, or one of its priorities; a rate of zero is none."""
        if priority is None:
            self._call(_SWITCH, "set_egress_queue_depth", port, packets)
            self._call(_SWITCH, "set_egress_queue_rate", port, packets_per_second)
        else:
            self._call(_SWITCH, "set_egress_priority_queue_depth", port, priority, packets)
            self._call(_SWITCH, "set_egress_priority_queue_rate", port, priority, packets_per_second)
