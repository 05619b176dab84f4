"""The control plane of a switch under LinkGuardian: set-up, parameters, loss, state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lossylink.bmv2.runtime import Runtime
from lossylink.bmv2.sources import constants, events

FAMILY = "linkguardian"
_N = constants(FAMILY)
_RECEIVER_EVENTS = events(FAMILY, "RECEIVER_")
_SENDER_EVENTS = events(FAMILY, "SENDER_")
#: Positions before the space repeats: a number of 16 bits and an era (LG-1).
_SPACE = 1 << 17
#: Values of a corruption draw (facts of the published program: 20 bits).
_DRAWS = 1 << 20


@dataclass(frozen=True)
class Pace:
    """How fast a software switch goes round its loops: what keeps them from taking the whole processor."""

    loop_packets_per_second: int = 4000
    """Passes of each recirculation loop."""
    timer_packets_per_second: int = 1000
    """Timer packets; the published switch has ten million (LG-21)."""
    link_packets_per_second: int = 0
    """Normal frames that leave for the link; zero is as fast as the switch can."""
    queue_frames: int = 512
    """Frames that wait for the link at most."""
    loop_frames: int = 1024
    """Frames in each loop at most; BMv2 takes back as many from its loops."""


@dataclass(frozen=True)
class Parameters:
    """What the control plane may set; the published 10G program's values unless said otherwise."""

    is_on: bool = False
    in_order: bool = True
    copies: int = 2
    """Copies of each retransmission (LG-7); the artifact's set-up fixes two."""
    control_copies: int = 1
    """Copies of each notification and pause (LG-46)."""
    dummies: int = 3
    """Dummies after the last data frame (LG-4)."""
    deduplicate: bool = True
    backpressure: bool = True
    reload: int = 135
    """Timer packets until a missing frame is given up, less one (LG-21)."""
    pause_frames: int = 33
    """Depth of the receiver's loop that pauses the sender: 662 cells, a full frame taking 20."""
    resume_frames: int = 31
    """Depth that lets it go on: 622 cells."""
    pause_us: int = 33_554_000
    """How long 65535 quanta last: 3.355 ms at 10G, ten thousand times slower here as the timer is (LG-25)."""


class LinkGuardianSwitch:
    """One switch of the lab, seen by its control plane."""

    def __init__(self, runtime: Runtime, pace: Pace | None = None) -> None:
        self.runtime = runtime
        self.pace = pace or Pace()
        self.parameters = Parameters()

    def set_up(self) -> None:
        """Fill the groups, lead the mirror sessions to them, bound the queues, and begin at position zero."""
        runtime, pace = self.runtime, self.pace
        link, tx_loop = _N["PORT_LINK"], _N["PORT_TX_LOOP"]
        sessions = {
            "COPY": [(tx_loop, "COPY")],
            "COPY_AND_DUMMY": [(tx_loop, "COPY"), (link, "DUMMY")],
            "DUMMY": [(link, "DUMMY")],
            "ACK": [(link, "ACK")],
        }
        for name, members in sessions.items():
            session = _N[f"SESSION_{name}"]
            runtime.set_group(session, [(port, _N[f"RID_{rid}"]) for port, rid in members])
            runtime.mirror_to_group(session, session)
        for loop in ("TX", "RX", "WAITING"):
            runtime.set_queue(
                _N[f"PORT_{loop}_LOOP"],
                packets=pace.loop_frames,
                packets_per_second=pace.loop_packets_per_second,
            )
        runtime.set_queue(_N["PORT_TIMER_LOOP"], packets=16, packets_per_second=pace.timer_packets_per_second)
        runtime.set_queue(link, packets=pace.loop_frames)
        runtime.set_queue(
            link,
            priority=_N["PRIORITY_NORMAL"],
            packets=pace.queue_frames,
            packets_per_second=pace.link_packets_per_second,
        )
        runtime.set_queue(_N["PORT_HOST"], packets=pace.loop_frames)
        self.start_over()
        self.set(self.parameters)

    def start_over(self, position: int = 0) -> None:
        """Begin at a position, and forget all else (LG-30)."""
        runtime = self.runtime
        for name in ("sender_hole", "receiver_missing"):
            for place in range(_N["HOLE_CAP"]):
                runtime.clear_register(f"{name}_{place}")
        runtime.write_register("sender_next", position)
        runtime.write_register("sender_leading_ack", (position - 1) % _SPACE)
        runtime.write_register("sender_dummies", 0)
        runtime.write_register("sender_paused_until", 0)
        runtime.write_register("receiver_expected", position)
        runtime.write_register("receiver_order", self.parameters.reload << 17 | position)
        runtime.write_register("receiver_acknowledgement", 0)
        runtime.write_register("receiver_pausing", 0)

    def set(self, parameters: Parameters) -> None:
        """Put parameters into force."""
        runtime, link = self.runtime, _N["PORT_LINK"]
        retransmission = (link, _N["RID_RETRANSMISSION"])
        notifications = [(link, _N["RID_NOTIFICATION"])] * parameters.control_copies
        pauses = [(link, _N["RID_PAUSE"])] * parameters.control_copies
        forward = _N["RID_FORWARD"]
        runtime.set_group(_N["GROUP_RETRANSMISSION"], [retransmission] * parameters.copies)
        runtime.set_group(_N["GROUP_NOTIFICATION"], notifications)
        runtime.set_group(_N["GROUP_NOTIFICATION_AND_HOST"], [(_N["PORT_HOST"], forward), *notifications])
        runtime.set_group(_N["GROUP_NOTIFICATION_AND_LOOP"], [(_N["PORT_RX_LOOP"], forward), *notifications])
        runtime.set_group(_N["GROUP_PAUSE"], [(_N["PORT_TIMER_LOOP"], _N["RID_TIMER"]), *pauses])
        runtime.set_default(
            "SwitchIngress.receiver.reception", "SwitchIngress.receiver.set_reception",
            (parameters.reload, 15), (int(parameters.deduplicate), 1),
            (int(parameters.backpressure and parameters.in_order), 1),
            (parameters.pause_frames, 19), (parameters.resume_frames, 19),
        )  # fmt: skip
        runtime.set_default(
            "SwitchIngress.sender.pause_length", "SwitchIngress.sender.set_pause_length",
            (parameters.pause_us, 48),
        )  # fmt: skip
        runtime.set_default(
            "SwitchEgress.sender.protection", "SwitchEgress.sender.set_protection",
            (int(parameters.is_on), 1), (int(parameters.in_order), 1), (parameters.dummies, 7),
        )  # fmt: skip
        self.parameters = parameters

    def protect(self, *, is_on: bool) -> None:
        """Number frames from now on, or no longer; all else stays."""
        self.set(replace(self.parameters, is_on=is_on))

    def corrupt(self, loss_ratio: float) -> None:
        """Corrupt what arrives over the link; the ratio is rounded down to 2^-20, as published.

        Of a ratio of one the largest draw is left, one of 2^20.
        """
        self.runtime.set_default(
            "SwitchIngress.corruption.loss", "SwitchIngress.corruption.corrupt_below",
            (min(int(loss_ratio * _DRAWS), _DRAWS - 1), 20),
        )  # fmt: skip

    def timer_frame(self, *, circulates: bool, source: bytes = bytes(6)) -> bytes:
        """Return a timer packet, to be sent into the port of the control plane."""
        head = source + source + _N["ETHERTYPE_TIMER"].to_bytes(2, "big") + bytes([int(circulates)])
        return head.ljust(_N["MINIMUM_FRAME_BYTES"], b"\0")

    def count(self, counter: str, names: dict[str, int]) -> dict[str, int]:
        """Return the events of one end by name."""
        return {name: self.runtime.read_counter(counter, index) for name, index in names.items()}

    def state(self) -> dict[str, Any]:
        """Return the state of both roles, by the names of the live guards' reports."""
        read, parameters = self.runtime.read_register, self.parameters
        sender = self.count("sender_events", _SENDER_EVENTS)
        sender["notifications_repeated"] = sender.pop("repeated")
        receiver = self.count("receiver_events", _RECEIVER_EVENTS)
        next_position, leading = read("sender_next"), read("sender_leading_ack")
        order, register = read("receiver_order"), read("receiver_acknowledgement")
        expected, pausing, line = read("receiver_expected"), read("receiver_pausing"), read("sender_line")
        overrun = read("receiver_overrun")
        return {
            "sender": {
                "next_seq": next_position & 0xFFFF,
                "next_seq_era": next_position >> 16,
                "leading_ack": leading & 0xFFFF,
                "leading_ack_era": leading >> 16,
                "outstanding": (next_position - leading - 1) % _SPACE,
                "copies": parameters.copies,
                "dummies_due": read("sender_dummies") & 0x7F,
                "beyond_cap": read("sender_beyond_cap"),
                "paused": int(read("sender_paused_until") != 0),
                "waiting": ((line >> 16) - line) & 0xFFFF,
                **sender,
            },
            "receiver": {
                "expected_seq": expected & 0xFFFF,
                "expected_seq_era": expected >> 16,
                "ack": order & 0xFFFF if parameters.in_order else None,
                "ack_era": order >> 16 & 1,
                "time_remaining": order >> 17,
                "leading_ack": register & 0xFFFF,
                "leading_ack_era": register >> 16 & 1,
                "ack_pending": register >> 17 & 3,
                "control_copies": parameters.control_copies,
                "lost": read("receiver_lost"),
                "overrun": overrun,
                "paused": pausing & 1,
                **receiver,
                "given_up": receiver["given_up"] + overrun,
            },
            "link": {
                "frames": self.runtime.read_counter("SwitchIngress.corruption.frames", 0),
                "corrupted": self.runtime.read_counter("SwitchIngress.corruption.frames", 1),
            },
        }
