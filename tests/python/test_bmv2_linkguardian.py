"""The control plane of a switch under LinkGuardian, against a switch that is nothing but memory."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from lossylink.errors import UserError
from lossylink.linux.bmv2 import linkguardian
from lossylink.linux.bmv2.linkguardian import LinkGuardianSwitch, Parameters
from lossylink.linux.bmv2.runtime import Runtime
from lossylink.linux.bmv2.sources import constants, events

from .bmv2_support import MemorySwitch, declared, program_text

N = constants("linkguardian")
LINK, HOST = N["PORT_LINK"], N["PORT_HOST"]
RECEPTION, PROTECTION = "SwitchIngress.receiver.reception", "SwitchEgress.sender.protection"


@pytest.fixture
def memory() -> MemorySwitch:
    return MemorySwitch("linkguardian")


@pytest.fixture
def switch(memory: MemorySwitch) -> LinkGuardianSwitch:
    switch = LinkGuardianSwitch(cast("Runtime", memory))
    switch.set_up()
    return switch


def members(memory: MemorySwitch, group: str) -> list[tuple[int, int]]:
    return sorted(memory.groups[N[group]])


def test_memory_has_the_methods_of_a_runtime() -> None:
    ours, theirs = (
        {
            name: inspect.signature(method)
            for name, method in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_")
        }
        for kind in (MemorySwitch, Runtime)
    )
    assert ours == theirs


def test_every_mirror_session_leads_to_members(switch: LinkGuardianSwitch, memory: MemorySwitch) -> None:
    copy, dummy = (N["PORT_TX_LOOP"], N["RID_COPY"]), (LINK, N["RID_DUMMY"])
    led_to = {name: memory.groups[memory.sessions[N[name]]] for name in N if name.startswith("SESSION_")}
    assert {name: sorted(found) for name, found in led_to.items()} == {
        "SESSION_COPY": [copy],
        "SESSION_COPY_AND_DUMMY": sorted([copy, dummy]),
        "SESSION_DUMMY": [dummy],
        "SESSION_ACK": [(LINK, N["RID_ACK"])],
    }


def test_every_group_of_the_program_has_members(switch: LinkGuardianSwitch, memory: MemorySwitch) -> None:
    groups = [name for name in N if name.startswith("GROUP_")]
    assert len(groups) == 5
    assert all(memory.groups[N[name]] for name in groups)
    assert len(set(memory.groups)) == len(groups) + len(memory.sessions), "two share a group"


def test_copies_are_members(switch: LinkGuardianSwitch, memory: MemorySwitch) -> None:
    retransmission, notification = (LINK, N["RID_RETRANSMISSION"]), (LINK, N["RID_NOTIFICATION"])
    pause, forward = (LINK, N["RID_PAUSE"]), N["RID_FORWARD"]
    assert members(memory, "GROUP_RETRANSMISSION") == [retransmission] * 2
    assert members(memory, "GROUP_NOTIFICATION") == [notification]
    switch.set(Parameters(copies=3, control_copies=2))
    assert members(memory, "GROUP_RETRANSMISSION") == [retransmission] * 3
    # LG-26: one of the copies says that acknowledgements may go on.
    both = [notification, (LINK, N["RID_NOTIFICATION_COPY"])]
    assert members(memory, "GROUP_NOTIFICATION") == both
    assert members(memory, "GROUP_NOTIFICATION_AND_HOST") == [(HOST, forward), *both]
    loop = (N["PORT_RX_LOOP"], forward)
    assert members(memory, "GROUP_NOTIFICATION_AND_LOOP") == [*both, loop]
    timer = (N["PORT_TIMER_LOOP"], N["RID_TIMER"])
    assert members(memory, "GROUP_PAUSE") == [*[pause] * 2, timer]


def test_no_loop_goes_round_without_a_bound_and_a_rate(memory: MemorySwitch) -> None:
    pace = replace(
        LinkGuardianSwitch(cast("Runtime", memory)).pace,
        loop_packets_per_second=50,
        order_packets_per_second=80,
        timer_packets_per_second=7,
        link_packets_per_second=9,
        queue_frames=3,
        loop_frames=600,
    )
    LinkGuardianSwitch(cast("Runtime", memory), pace).set_up()
    ports = {name: port for name, port in N.items() if name.startswith("PORT_") and name.endswith("_LOOP")}
    loops = {name: memory.queues[port, None] for name, port in ports.items()}
    assert loops.pop("PORT_TIMER_LOOP")[1] == 7
    assert loops == {
        "PORT_TX_LOOP": (600, 50), "PORT_RX_LOOP": (600, 80), "PORT_WAITING_LOOP": (600, 80),
    }  # fmt: skip
    assert memory.queues[LINK, N["PRIORITY_NORMAL"]] == (3, 9)
    # Control frames and retransmissions are not slowed down by the rate of normal frames.
    assert memory.queues[LINK, None] == (600, 0)
    assert memory.queues[HOST, None] == (600, 0)


@pytest.mark.parametrize(("loop", "most"), [("WAITING", "WAITING_MAX"), ("RX", "HELD_MAX")])
def test_a_loop_takes_every_frame_that_the_program_lets_in(
    memory: MemorySwitch, loop: str, most: str
) -> None:
    LinkGuardianSwitch(cast("Runtime", memory)).set_up()
    assert memory.queues[N[f"PORT_{loop}_LOOP"], None][0] > N[most]


def test_parameters_go_into_force(switch: LinkGuardianSwitch, memory: MemorySwitch) -> None:
    assert memory.defaults[PROTECTION] == [0, 1, 3]
    assert memory.defaults[RECEPTION] == [135, 1, 1, 33, 31]
    parameters = Parameters(
        is_on=True, in_order=False, dummies=0, deduplicate=False, reload=70, pause_frames=9, resume_frames=4
    )
    switch.set(parameters)
    assert switch.parameters == parameters
    assert memory.defaults[PROTECTION] == [1, 0, 0]
    # LG-27: without order nobody is paused.
    assert memory.defaults[RECEPTION] == [70, 0, 0, 9, 4]
    switch.set(Parameters(backpressure=False, pause_us=1234))
    assert memory.defaults[RECEPTION] == [135, 1, 0, 33, 31]
    assert memory.defaults["SwitchIngress.sender.pause_length"] == [1234]


def lg(**options: object) -> dict[str, object]:
    """Return the value of a protection that leaves all else to the link."""
    usual = {"family": "linkguardian", "copies": None, "control_copies": None, "dummies": None, "holes": 5}
    return usual | {"mode": {"ordered": {"backpressure": True}}} | options


def test_a_protection_becomes_parameters() -> None:
    assert Parameters.of(lg()) == Parameters(is_on=True)
    chosen = Parameters.of(lg(copies=3, control_copies=2, dummies=0))
    assert chosen == Parameters(is_on=True, copies=3, control_copies=2, dummies=0)
    alone = Parameters.of(lg(mode={"non-blocking": {"deduplicate": False}}))
    assert (alone.in_order, alone.deduplicate) == (False, False)
    assert not Parameters.of(lg(mode={"ordered": {"backpressure": False}})).backpressure


def test_more_dummies_than_the_program_counts_are_refused() -> None:
    assert Parameters.of(lg(dummies=127)).dummies == 127
    with pytest.raises(UserError, match="sends 127 dummies at most: say fewer"):
        Parameters.of(lg(dummies=128))


@pytest.mark.parametrize("holes", [None, 4, 6])
def test_another_number_of_holes_is_refused(holes: int | None) -> None:
    with pytest.raises(UserError, match="asks for 5 positions of a hole: leave out the option holes"):
        Parameters.of(lg(holes=holes))


@pytest.mark.parametrize(
    ("loss_ratio", "threshold"),
    [(0, 0), (1e-3, 1048), (2**-20, 1), (0.99 * 2**-20, 0), (0.5, 1 << 19), (1.0, N["CORRUPTION_DRAW_MAX"])],
)
def test_a_loss_ratio_becomes_a_threshold(
    switch: LinkGuardianSwitch, memory: MemorySwitch, loss_ratio: float, threshold: int
) -> None:
    switch.corrupt(loss_ratio)
    assert memory.defaults["SwitchIngress.corruption.loss"] == [threshold]


# LG-30
def test_both_ends_begin_at_the_last_position(switch: LinkGuardianSwitch, memory: MemorySwitch) -> None:
    for name, (cells, bits) in memory.declared.registers.items():
        memory.registers[name] = [(1 << bits) - 1] * cells
    switch.set(Parameters(reload=70))
    switch.start_over(2**17 - 1)
    state = switch.state()
    sender, receiver = state["sender"], state["receiver"]
    assert memory.read_register("sender_next") == 131071
    assert memory.read_register("sender_leading_ack") == 131070
    assert (sender["next_seq"], sender["next_seq_era"], sender["outstanding"]) == (65535, 1, 0)
    assert (receiver["expected_seq"], receiver["expected_seq_era"]) == (65535, 1)
    assert (receiver["ack"], receiver["ack_era"], receiver["time_remaining"]) == (65535, 1, 70)
    assert (receiver["ack_pending"], receiver["paused"]) == (0, False)
    assert (sender["dummies_due"], sender["holes"]) == (0, 0)
    assert memory.read_register("sender_paused_until") == 0
    marks = [name for name in memory.registers if name.startswith(("sender_hole_", "receiver_missing_"))]
    assert len(marks) == 2 * N["HOLE_CAP"]
    assert not any(cell for name in marks for cell in memory.registers[name])


def test_at_the_first_position_the_one_before_it_is_acknowledged(
    switch: LinkGuardianSwitch, memory: MemorySwitch
) -> None:
    assert memory.read_register("sender_next") == 0
    assert memory.read_register("sender_leading_ack") == 131071
    assert switch.state()["sender"]["outstanding"] == 0


def test_registers_are_told_in_words(switch: LinkGuardianSwitch, memory: MemorySwitch) -> None:
    memory.write_register("sender_next", 1 << 16 | 5)
    memory.write_register("sender_leading_ack", 65533)
    memory.write_register("sender_dummies", 1 << 7 | 3)
    memory.write_register("sender_beyond_cap", 11)
    memory.write_register("sender_hole_1", 1 << 17 | 77, index=77)
    memory.write_register("sender_hole_4", 1 << 17 | 80, index=80)
    memory.write_register("sender_line", 2 << 16 | 65530)
    memory.write_register("receiver_expected", 1 << 16 | 40)
    memory.write_register("receiver_order", 134 << 17 | 1 << 16 | 38)
    memory.write_register("receiver_acknowledgement", 1 << 19 | 2 << 17 | 1 << 16 | 39)
    memory.write_register("receiver_pausing", 0b011)
    memory.write_register("receiver_lost", 6)
    memory.write_register("receiver_overrun", 4)
    state = switch.state()
    sender, receiver = state["sender"], state["receiver"]
    expected_sender = {
        "next_seq": 5,
        "next_seq_era": 1,
        "leading_ack": 65533,
        "leading_ack_era": 0,
        "outstanding": 7,
        "copies": 2,
        "dummies_due": 3,
        "beyond_cap": 11,
        "holes": 2,
        "queue_paused": True,
    }
    assert {name: sender[name] for name in expected_sender} == expected_sender
    expected_receiver = {
        "expected_seq": 40,
        "expected_seq_era": 1,
        "ack": 38,
        "ack_era": 1,
        "time_remaining": 134,
        "leading_ack": 39,
        "leading_ack_era": 1,
        "ack_pending": 2,
        "control_copies": 1,
        "lost": 6,
        "given_up": 4,
        "paused": True,
        "pause_frames": 33,
        "resume_frames": 31,
    }
    assert {name: receiver[name] for name in expected_receiver} == expected_receiver


def test_what_was_told_last_is_a_resume_while_the_request_waits(
    switch: LinkGuardianSwitch, memory: MemorySwitch
) -> None:
    memory.write_register("receiver_pausing", N["PAUSE_RESUME"] << 1)
    assert not switch.state()["receiver"]["paused"]


def test_without_order_no_position_has_its_turn(switch: LinkGuardianSwitch) -> None:
    switch.set(Parameters(in_order=False))
    receiver = switch.state()["receiver"]
    assert (receiver["ack"], receiver["ack_era"]) == (None, None)
    assert not {"time_remaining", "paused", "pause_frames"} & receiver.keys()


def test_every_event_is_told(switch: LinkGuardianSwitch, memory: MemorySwitch) -> None:
    for end in ("sender", "receiver"):
        names = events("linkguardian", f"{end.upper()}_")
        memory.counters[f"{end}_events"] = [100 + index for index in range(len(names))]
    memory.write_register("receiver_overrun", 1000)
    memory.counters["SwitchIngress.corruption.frames"] = [50, 2]
    state = switch.state()
    # What frames do at the ports stands with the switch as a whole.
    elsewhere = {
        "from_host": "from_lan", "to_link": "to_link", "sent": "to_link_first", "from_link": "from_link",
        "to_host": "to_lan", "malformed": "malformed",
    }  # fmt: skip
    for end in ("sender", "receiver"):
        told = {name: 100 + index for name, index in events("linkguardian", f"{end.upper()}_").items()}
        if end == "receiver":
            # LG-33: what was given up for want of a window is given up all the same.
            told["given_up"] += 1000
            told["buffer_overflowed"] = told.pop("no_room")
        else:
            told["notifications_repeated"] = told.pop("repeated")
        assert {name: state[elsewhere[name]] for name in told.keys() & elsewhere} == {
            name: told[name] for name in told.keys() & elsewhere
        }
        told = {name: value for name, value in told.items() if name not in elsewhere}
        assert {name: state[end][name] for name in told} == told
    sent = events("linkguardian", "SENDER_")
    assert state["waiting_or_dropped"] == sent["from_host"] - sent["sent"]
    assert switch.corruption() == {"frames": 50, "corrupted": 2}


def test_the_words_are_those_of_the_live_guards(switch: LinkGuardianSwitch) -> None:
    core = Path(__file__).resolve().parents[2] / "crates/core/src/engine/linkguardian/report.rs"
    words = re.compile(r'Counter::(?:new|level)\(\s*"(\w+)"')
    sending, receiving = (set(words.findall(part)) for part in core.read_text().split("impl ReceivingState"))
    assert "next_seq" in sending
    assert "time_remaining" in receiving
    state = switch.state()
    # What only a switch has: a line of frames that a pause holds back, and thresholds in frames.
    assert state["sender"].keys() - sending <= {"abandoned", "queue_paused", "held_back", "no_room"}
    assert state["receiver"].keys() - receiving <= {"pause_frames", "resume_frames"}


@pytest.mark.parametrize("circulates", [True, False])
def test_a_timer_packet_is_a_minimum_frame(switch: LinkGuardianSwitch, circulates: bool) -> None:
    frame = switch.timer_frame(circulates=circulates, source=bytes(range(6)))
    assert len(frame) == 60
    assert frame[6:12] == bytes(range(6))
    assert int.from_bytes(frame[12:14], "big") == N["ETHERTYPE_TIMER"]
    assert frame[14:] == bytes([circulates]).ljust(len(frame) - 14, b"\0")


def names_used(text: str) -> list[tuple[str, str]]:
    """Return what a control plane names in its calls: the method, and each text that it gives."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    named = [
        (node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func), argument.value)
        for node in calls
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    return [(method, str(name)) for method, name in named]


def undefined(text: str) -> list[str]:
    """Return what a control plane names and the program does not have."""
    has = declared(program_text("linkguardian"), N)
    actions = {action for table in has.tables.values() for action in table}
    places: dict[str, set[str]] = {
        "read": set(has.registers),
        "read_register": set(has.registers),
        "write_register": set(has.registers),
        "clear_register": set(has.registers),
        "count": set(has.counters),
        "read_counter": set(has.counters),
        "clear_counter": set(has.counters),
        "set_default": actions | set(has.tables),
    }
    return [name for method, name in names_used(text) if method in places and name not in places[method]]


def test_every_name_of_the_control_plane_is_in_the_program() -> None:
    text = inspect.getsource(linkguardian)
    assert undefined(text) == []
    found = {method for method, _ in names_used(text)}
    assert {"read", "write_register", "count", "set_default"} <= found


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ('"sender_next"', '"sender_nxt"'),
        ('"SwitchIngress.sender.pause_length"', '"SwitchIngress.pause_length"'),
        ('"SwitchIngress.sender.set_pause_length"', '"SwitchEgress.sender.set_pause_length"'),
        ('"receiver_events"', '"receiver_expected"'),
    ],
)
def test_a_name_that_the_program_lacks_is_found(name: str, other: str) -> None:
    text = inspect.getsource(linkguardian)
    assert name in text
    assert set(undefined(text.replace(name, other))) == {ast.literal_eval(other)}


def test_what_does_not_fit_the_program_is_refused(memory: MemorySwitch) -> None:
    with pytest.raises(KeyError):
        memory.write_register("sender_nxt", 0)
    with pytest.raises(AssertionError, match="does not fit sender_next"):
        memory.write_register("sender_next", 1 << 17)
    with pytest.raises(AssertionError, match=r"takes \[20\] bits"):
        memory.set_default("SwitchIngress.corruption.loss", "SwitchIngress.corruption.corrupt_below", (0, 19))
