"""The client of a software switch: what it asks of the switch, and what it says when that fails."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from lossylink.errors import RunError, UserError
from lossylink.linux.bmv2 import runtime
from lossylink.linux.bmv2.runtime import Runtime

from .fake_switch import FakeSwitch, serving


@pytest.fixture
def switch() -> Iterator[FakeSwitch]:
    with serving(FakeSwitch()) as switch:
        yield switch


@pytest.fixture
def client(switch: FakeSwitch) -> Iterator[Runtime]:
    client = Runtime(switch.port)
    yield client
    client.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_registers_are_read_written_and_cleared(switch: FakeSwitch, client: Runtime) -> None:
    client.write_register("sums", 1 << 47)
    client.write_register("sums", 7, index=3)
    assert switch.registers["sums"] == [1 << 47, 0, 0, 7]
    assert (client.read_register("sums"), client.read_register("sums", 3)) == (1 << 47, 7)
    client.clear_register("sums")
    assert switch.registers["sums"] == [0] * 4


def test_counters_give_packets_and_begin_anew(switch: FakeSwitch, client: Runtime) -> None:
    switch.counters["events"] = [5, 6, 7]
    assert [client.read_counter("events", index) for index in range(3)] == [5, 6, 7]
    client.clear_counter("events")
    assert client.read_counter("events", 1) == 0


def test_values_of_an_action_have_the_bytes_of_their_widths(switch: FakeSwitch, client: Runtime) -> None:
    client.set_default("table", "action", (135, 15), (1, 1), (33_554_000, 48), (0x12345, 20))
    assert switch.defaults["table"] == (
        "action",
        [b"\x00\x87", b"\x01", b"\x00\x00\x01\xff\xfe\x50", b"\x01\x23\x45"],
    )


def test_a_group_gets_each_member_as_often_as_it_is_named(switch: FakeSwitch, client: Runtime) -> None:
    client.set_group(9, [(2, 5), (2, 5), (63, 1)])
    assert switch.members(9) == [(2, 5), (2, 5), (63, 1)]


def test_a_group_that_is_filled_anew_is_never_empty(switch: FakeSwitch, client: Runtime) -> None:
    client.set_group(9, [(2, 5)])
    client.set_group(4, [(1, 1)])
    switch.sizes.clear()
    client.set_group(9, [(3, 6), (3, 6)])
    assert min(switch.sizes) == 2, "old members went before the new ones had come"
    assert switch.members(9) == [(3, 6), (3, 6)]
    assert switch.members(4) == [(1, 1)], "another group is touched"
    client.set_group(9, [])
    assert switch.members(9) == []
    assert len(switch.nodes) == 1, "members that have gone are left behind"


def test_a_member_that_stays_is_not_touched(switch: FakeSwitch, client: Runtime) -> None:
    client.set_group(9, [(1, 1), (2, 6)])
    nodes = dict(switch.nodes)
    switch.sizes.clear()
    client.set_group(9, [(1, 1), (2, 6), (2, 6)])
    assert switch.sizes == [3]
    assert nodes.items() <= switch.nodes.items()
    switch.sizes.clear()
    client.set_group(9, [(2, 6), (1, 1)])
    assert switch.sizes == [2]
    assert switch.members(9) == [(1, 1), (2, 6)]


def test_a_mirror_session_leads_to_a_group_and_to_no_port(switch: FakeSwitch, client: Runtime) -> None:
    client.mirror_to_group(6, 8)
    assert (switch.sessions[6].mgid, switch.sessions[6].port) == (8, None)


def test_a_queue_is_bounded_as_a_whole_or_by_priority(switch: FakeSwitch, client: Runtime) -> None:
    client.set_queue(4, packets=1024, packets_per_second=4000)
    client.set_queue(2, packets=512, priority=1)
    assert switch.queues == {
        ("depth", 4, None): 1024,
        ("rate", 4, None): 4000,
        ("depth", 2, 1): 512,
        ("rate", 2, 1): 0,
    }


def test_a_refusal_is_one_line_that_names_the_call(client: Runtime) -> None:
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: client.read_register("none"), "bm_register_read(0, none, 0)"),
        (lambda: client.write_register("none", 5), "bm_register_write(0, none, 0, 5)"),
        (lambda: client.read_counter("none", 2), "bm_counter_read(0, none, 2)"),
        (lambda: client.set_default("none", "action"), "bm_mt_set_default_action(0, none, action, [])"),
    ]
    for call, shown in refused:
        with pytest.raises(RunError) as error:
            call()
        assert str(error.value).startswith(f"the switch refused {shown}: ")
        assert "code=" in str(error.value), "the switch's own reason is left out"
        assert "\n" not in str(error.value)


def test_groups_of_an_earlier_client_are_refused(switch: FakeSwitch, client: Runtime) -> None:
    client.set_group(9, [])
    other = Runtime(switch.port)
    with pytest.raises(RunError, match=r"the switch refused bm_mc_mgrp_create\(0, 9\)"):
        other.set_group(9, [])
    other.close()


def test_a_switch_that_ends_is_noticed(switch: FakeSwitch, client: Runtime) -> None:
    switch.hangs_up.set()
    with pytest.raises(RunError, match="the switch refused bm_register_read") as error:
        client.read_register("sums")
    assert "\n" not in str(error.value)


def test_a_switch_that_hangs_up_after_many_questions_is_asked_anew(
    switch: FakeSwitch, client: Runtime
) -> None:
    client.write_register("sums", 5)
    switch.hangs_up_once.set()
    assert client.read_register("sums") == 5
    assert not switch.hangs_up_once.is_set(), "it has not hung up"


def test_no_switch_is_one_line_that_says_where() -> None:
    port = free_port()
    with pytest.raises(RunError, match=f"no switch answers at 127.0.0.1:{port}: ") as error:
        Runtime(port)
    assert "\n" not in str(error.value)


def test_a_switch_that_comes_up_late_is_waited_for() -> None:
    port, asked, done = free_port(), threading.Event(), threading.Event()

    def is_alive() -> bool:
        asked.set()
        return True

    def come_up() -> None:
        asked.wait()
        with serving(FakeSwitch(), port):
            done.wait()

    late = threading.Thread(target=come_up)
    late.start()
    try:
        client = Runtime.wait(port, seconds=60, is_alive=is_alive)
        assert client.read_register("sums") == 0
        client.close()
    finally:
        asked.set()
        done.set()
        late.join()


def test_waiting_ends_with_the_switch_or_the_time() -> None:
    port = free_port()
    states = iter([True, True, False])
    with pytest.raises(RunError, match="no switch answers"):
        Runtime.wait(port, seconds=60, is_alive=lambda: next(states))
    assert list(states) == [], "it was given up while it was alive"
    with pytest.raises(RunError, match="no switch answers"):
        Runtime.wait(port, seconds=0, is_alive=lambda: True)


def test_a_missing_package_is_said_with_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "thriftpy2", None)
    runtime.interface.cache_clear()
    try:
        with pytest.raises(UserError, match=r"pip install 'lossylink\[p4\]'"):
            Runtime(1)
    finally:
        runtime.interface.cache_clear()
