"""What vectors cannot show of LinkGuardian's switch program: pauses, the line behind them, and full loops.

Each dialogue begins with both ends at position zero, and nothing under way.
"""

from __future__ import annotations

import time

from lossylink.linux.bmv2.linkguardian import FAMILY, LinkGuardianSwitch, Parameters
from lossylink.linux.bmv2.sources import constants, events

from .bench import Bench, DifferenceError, compare, told_apart

_N = constants(FAMILY)
_RECEIVER = events(FAMILY, "RECEIVER_")
_SENDER = events(FAMILY, "SENDER_")
_HOST_TO_LINK = bytes.fromhex("020000000008 020000000004")
_LINK_TO_HOST = bytes.fromhex("020000000004 020000000008")
_IPV4 = b"\x08\x00"
_LINKGUARDIAN = _N["ETHERTYPE_LINKGUARDIAN"].to_bytes(2, "big")
#: The first octet of a data header in order, and of one that is sent again (WIRE-5).
_IN_ORDER, _AGAIN = 0b0000_0010, 0b0000_1010
_ROUNDS = 30


class Rig:
    """A switch on its bench."""

    def __init__(self, bench: Bench, switch: LinkGuardianSwitch) -> None:
        self.bench = bench
        self.switch = switch

    def begin(self, parameters: Parameters) -> None:
        """Start over."""
        self.let_go()
        self.switch.clear()
        self.switch.set(parameters)
        self.switch.start_over()

    def let_go(self) -> None:
        """Let go what circulates, and wait until a full loop has come round."""
        self.switch.drain()
        time.sleep(self.switch.pace.loop_frames / self.switch.pace.loop_packets_per_second)
        self.bench.take(self.bench.link)

    def host_sends(self, numbers: range) -> None:
        """Let the host send frames."""
        for number in numbers:
            self.bench.send(self.bench.host, frame(_HOST_TO_LINK, number))

    def link_brings(self, numbers: range, *, kind: int = _IN_ORDER) -> None:
        """Let numbered frames arrive, each with its number as its content."""
        for number in numbers:
            bare = frame(_LINK_TO_HOST, number)
            header = bytes([kind]) + number.to_bytes(2, "big")
            self.bench.send(self.bench.link, bare[:12] + _LINKGUARDIAN + header + bare[12:])

    def link_pauses(self, quanta: int) -> None:
        """Let a frame of priority flow control arrive (WIRE-10)."""
        head = bytes.fromhex("0180c2000001 020000000008 8808 0101 0002 0000") + quanta.to_bytes(2, "big")
        self.bench.send(self.bench.link, head.ljust(_N["MINIMUM_FRAME_BYTES"], b"\0"))

    def timer(self) -> None:
        """Let one timer packet pass."""
        self.bench.send(self.bench.control, self.switch.timer_frame(circulates=False))

    def leave_in_order(self, numbers: range) -> None:
        """Expect frames of the host at the link, each at the position of its number."""
        seen = self.bench.expect(self.bench.link, len(numbers))
        compare("position", [int.from_bytes(one[15:17], "big") for one in seen], numbers)
        compare("content", [content(one[17:]) for one in seen], numbers)

    def counted(self, counter: str, event: int, expected: int) -> None:
        """Compare a count of events."""
        compare("count", [self.bench.runtime.read_counter(counter, event)], [expected])


def frame(addresses: bytes, number: int) -> bytes:
    """Return a frame whose content is a number."""
    return (addresses + _IPV4 + number.to_bytes(4, "big")).ljust(100, b"\0")


def content(rest: bytes) -> int:
    """Return the number of a frame, from its EtherType on."""
    return int.from_bytes(rest[2:6], "big")


def a_pause_holds_the_queue_and_keeps_its_order(rig: Rig) -> None:
    """LG-25: nothing leaves until the resume. What comes while the line empties stands behind it."""
    rig.begin(Parameters(is_on=True, dummies=0))
    for first in range(0, 20 * _ROUNDS, 20):
        rig.link_pauses(_N["PFC_QUANTA_PAUSE"])
        rig.bench.quiet()
        rig.host_sends(range(first, first + 10))
        rig.bench.quiet()
        rig.link_pauses(_N["PFC_QUANTA_RESUME"])
        rig.host_sends(range(first + 10, first + 20))
        rig.leave_in_order(range(first, first + 20))
    rig.counted("sender_events", _SENDER["no_room"], 0)


def a_pause_ends_by_itself(rig: Rig) -> None:
    """LG-25: quanta run out."""
    rig.begin(Parameters(is_on=True, dummies=0, pause_us=200_000))
    rig.link_pauses(_N["PFC_QUANTA_PAUSE"])
    rig.bench.quiet()
    rig.host_sends(range(5))
    rig.bench.quiet()
    rig.leave_in_order(range(5))


def a_control_plane_holds_the_link_as_a_pause_does(rig: Rig) -> None:
    """LG-36: a resume of the peer does not end it."""
    rig.begin(Parameters(is_on=True, dummies=0))
    rig.switch.hold(is_on=True)
    rig.host_sends(range(10))
    rig.link_pauses(_N["PFC_QUANTA_RESUME"])
    rig.bench.quiet()
    rig.switch.hold(is_on=False)
    rig.leave_in_order(range(10))


def a_deep_loop_asks_for_one_pause_and_one_resume(rig: Rig) -> None:
    """LG-23, LG-24, LG-46: with the next timer packet, once each, in as many copies as was said."""
    parameters = Parameters(in_order=True, control_copies=2)
    rig.begin(parameters)
    link, host = rig.bench.link, rig.bench.host
    rig.bench.runtime.write_register("receiver_acknowledgement", 1 << 19)
    rig.link_brings(range(1, parameters.pause_frames + 6))
    rig.bench.expect(link, 2)
    rig.bench.quiet()
    for _ in range(3):
        rig.timer()
    compare("pause", [one[14:22] for one in rig.bench.take(link)], [pfc(_N["PFC_QUANTA_PAUSE"])] * 2)
    rig.link_brings(range(1), kind=_AGAIN)
    seen = [content(one[12:]) for one in rig.bench.expect(host, parameters.pause_frames + 6)]
    compare("content", seen, range(parameters.pause_frames + 6))
    for _ in range(3):
        rig.timer()
    compare("resume", [one[14:22] for one in rig.bench.take(link)], [pfc(_N["PFC_QUANTA_RESUME"])] * 2)
    rig.counted("receiver_events", _RECEIVER["pauses"], 1)
    rig.counted("receiver_events", _RECEIVER["resumes"], 1)


def a_full_loop_takes_no_more(rig: Rig) -> None:
    """LG-34: what finds no room is dropped, and what is held comes all the same."""
    most = _N["HELD_MAX"]
    rig.begin(Parameters(in_order=True, backpressure=False))
    rig.bench.runtime.write_register("receiver_acknowledgement", 1 << 19)
    rig.link_brings(range(1, most + 9))
    rig.bench.expect(rig.bench.link, 1)
    rig.bench.quiet()
    rig.counted("receiver_events", _RECEIVER["no_room"], 8)
    rig.link_brings(range(1), kind=_AGAIN)
    seen = [content(one[12:]) for one in rig.bench.expect(rig.bench.host, most + 1, seconds=60.0)]
    compare("content", seen, range(most + 1))
    compare("held", [rig.bench.runtime.read_register("receiver_held")], [0])


def pfc(quanta: int) -> bytes:
    """Return what tells of a pause frame: its class and its quanta."""
    return bytes.fromhex("0101 0002 0000") + quanta.to_bytes(2, "big")


DIALOGUES = (
    a_pause_holds_the_queue_and_keeps_its_order,
    a_pause_ends_by_itself,
    a_control_plane_holds_the_link_as_a_pause_does,
    a_deep_loop_asks_for_one_pause_and_one_resume,
    a_full_loop_takes_no_more,
)


def hold(bench: Bench, switch: LinkGuardianSwitch) -> None:
    """Hold every dialogue.

    Raises
    ------
    DifferenceError
        The switch did otherwise.
    """
    rig = Rig(bench, switch)
    for dialogue in DIALOGUES:
        with told_apart(dialogue.__name__):
            dialogue(rig)
            bench.quiet()
    if any(bench.runtime.read_registers("receiver_held")):
        raise DifferenceError("frames are held that are not there")
    rig.let_go()
