"""The control plane of a switch under LinkGuardian: set-up, parameters, loss, state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lossylink.errors import UserError
from lossylink.linux.bmv2.common import Pace, corrupt, corrupted, count
from lossylink.linux.bmv2.runtime import Runtime
from lossylink.linux.bmv2.sources import constants, events
from lossylink.linux.bmv2.switch import inject

FAMILY = "linkguardian"
_N = constants(FAMILY)
_RECEIVER_EVENTS = events(FAMILY, "RECEIVER_")
_SENDER_EVENTS = events(FAMILY, "SENDER_")
#: Positions before the space repeats: a number of 16 bits and an era (LG-1).
_SPACE = 1 << 17
#: Dummies that the program counts in seven bits.
_DUMMIES_MAX = 127
_CORRUPTION = "SwitchIngress.corruption"


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

    @classmethod
    def of(cls, protection: Mapping[str, Any]) -> Parameters:
        """Return the parameters of a protection's value; what it leaves to the link is as published.

        Raises
        ------
        UserError
            The program has something of it built in otherwise.

        Examples
        --------
        >>> ordered = {"ordered": {"backpressure": True}}
        >>> Parameters.of({"copies": 3, "control_copies": None, "dummies": None, "holes": 5, "mode": ordered})
        Parameters(is_on=True, in_order=True, copies=3, control_copies=1, dummies=3, ...)
        """
        cap = _N["HOLE_CAP"]
        if (protection["dummies"] or 0) > _DUMMIES_MAX:
            raise UserError(f"the switch program sends {_DUMMIES_MAX} dummies at most: say fewer")
        if protection["holes"] != cap:
            raise UserError(
                f"the switch program asks for {cap} positions of a hole: leave out the option holes"
            )
        chosen = {name: protection[name] for name in ("copies", "control_copies", "dummies")}
        mode = protection["mode"]
        return cls(
            is_on=True,
            in_order="ordered" in mode,
            backpressure=mode.get("ordered", {}).get("backpressure", True),
            deduplicate=mode.get("non-blocking", {}).get("deduplicate", True),
            **{name: value for name, value in chosen.items() if value is not None},
        )


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
        runtime.set_queue(tx_loop, packets=pace.loop_frames, packets_per_second=pace.loop_packets_per_second)
        for loop in ("RX", "WAITING"):
            runtime.set_queue(
                _N[f"PORT_{loop}_LOOP"],
                packets=pace.loop_frames,
                packets_per_second=pace.order_packets_per_second,
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

    def drain(self) -> None:
        """Let everything go that circulates: each packet leaves when it next comes round."""
        runtime = self.runtime
        runtime.write_register("sender_leading_ack", (runtime.read_register("sender_next") - 1) % _SPACE)
        runtime.write_register("receiver_order", runtime.read_register("receiver_expected"))

    def start_over(self, position: int = 0) -> None:
        """Begin at a position, and forget what registers hold (LG-30).

        Packets that circulate are not forgotten. `drain` lets them go before.
        """
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
        runtime.write_register("receiver_held", 0)

    def clear(self) -> None:
        """Count anew."""
        for counter in ("sender_events", "receiver_events", f"{_CORRUPTION}.frames"):
            self.runtime.clear_counter(counter)
        for register in ("sender_beyond_cap", "receiver_lost", "receiver_overrun"):
            self.runtime.clear_register(register)

    def set(self, parameters: Parameters) -> None:
        """Put parameters into force."""
        runtime, link = self.runtime, _N["PORT_LINK"]
        retransmission = (link, _N["RID_RETRANSMISSION"])
        further = [(link, _N["RID_NOTIFICATION_COPY"])] * (parameters.control_copies - 1)
        notifications = [(link, _N["RID_NOTIFICATION"]), *further]
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

    def corrupt(self, loss_ratio: float) -> None:
        """Corrupt what arrives over the link; the ratio is rounded down to 2^-20, as published."""
        corrupt(self.runtime, _CORRUPTION, loss_ratio)

    def timer_frame(self, *, circulates: bool, source: bytes = bytes(6)) -> bytes:
        """Return a timer packet, to be sent into the port of the control plane."""
        head = source + source + _N["ETHERTYPE_TIMER"].to_bytes(2, "big") + bytes([int(circulates)])
        return head.ljust(_N["MINIMUM_FRAME_BYTES"], b"\0")

    def hold(self, *, is_on: bool) -> None:
        """Hold frames of the host back, as a pause does, or let them go on."""
        self.runtime.write_register("sender_on_hold", int(is_on))

    def is_at_rest(self) -> bool:
        """Return whether nothing is under way (LG-36).

        At rest no frame is unacknowledged, no dummy is due, none is held, and in order none is awaited. What
        a dummy shows to be lost is acknowledged before it comes again.
        """
        read = self.runtime.read_register
        unacknowledged = (read("sender_next") - read("sender_leading_ack") - 1) % _SPACE
        awaited = (read("receiver_expected") - read("receiver_order")) % _SPACE
        return not (unacknowledged or awaited or read("sender_dummies") & 0x7F or read("receiver_held"))

    def begin(self, port: str) -> None:
        """Send the timer packet on its way, by the far end of the control plane's cable."""
        inject(port, self.timer_frame(circulates=True))

    def acknowledged(self) -> int:
        """Return the position up to which all has arrived or is known to be lost (LG-8)."""
        return self.runtime.read_register("sender_leading_ack")

    def state(self) -> dict[str, Any]:
        """Return the state of both roles, by the names of the live guards' reports."""
        read = self.runtime.read_register
        sent = count(self.runtime, "sender_events", _SENDER_EVENTS)
        received = count(self.runtime, "receiver_events", _RECEIVER_EVENTS)
        return {
            "from_lan": sent["from_host"],
            "to_link": sent["to_link"],
            "to_link_first": sent["sent"],
            "waiting_or_dropped": sent["from_host"] - sent["sent"],
            "from_link": received["from_link"],
            "to_lan": received["to_host"],
            "malformed": received["malformed"],
            "sender": self._sender(sent, read("sender_next"), read("sender_leading_ack")),
            "receiver": self._receiver(received, read("receiver_order"), read("receiver_acknowledgement")),
        }

    def _sender(self, events: dict[str, int], following: int, leading: int) -> dict[str, Any]:
        read, line = self.runtime.read_register, self.runtime.read_register("sender_line")
        marks = (self.runtime.read_registers(f"sender_hole_{place}") for place in range(_N["HOLE_CAP"]))
        counted = (
            *("data", "dummies", "retransmitted", "acks", "notifications", "out_of_range"),
            *("abandoned", "held_back", "no_room"),
        )
        return {
            "next_seq": following & 0xFFFF,
            "next_seq_era": following >> 16,
            "leading_ack": leading & 0xFFFF,
            "leading_ack_era": leading >> 16,
            "outstanding": (following - leading - 1) % _SPACE,
            "holes": sum(mark != 0 for register in marks for mark in register),
            "copies": self.parameters.copies,
            "dummies_due": read("sender_dummies") & 0x7F,
            "beyond_cap": read("sender_beyond_cap"),
            "queue_paused": line >> 16 != line & 0xFFFF,
            "notifications_repeated": events["repeated"],
            **{name: events[name] for name in counted},
        }

    def _receiver(self, events: dict[str, int], order: int, register: int) -> dict[str, Any]:
        read, parameters = self.runtime.read_register, self.parameters
        expected, overrun = read("receiver_expected"), read("receiver_overrun")
        counted = (
            *("data", "retransmissions", "dummies", "notifications", "forwarded", "duplicates", "stale"),
            *("timer_packets", "pauses", "resumes"),
        )
        state = {
            "expected_seq": expected & 0xFFFF,
            "expected_seq_era": expected >> 16,
            "ack": None,
            "ack_era": None,
            "leading_ack": register & 0xFFFF,
            "leading_ack_era": register >> 16 & 1,
            "ack_pending": register >> 17 & 3,
            "control_copies": parameters.control_copies,
            "lost": read("receiver_lost"),
            "given_up": events["given_up"] + overrun,
            "buffer_overflowed": events["no_room"],
            **{name: events[name] for name in counted},
        }
        if parameters.in_order:
            state |= {"ack": order & 0xFFFF, "ack_era": order >> 16 & 1, "time_remaining": order >> 17}
        if parameters.in_order and parameters.backpressure:
            state |= {"pause_frames": parameters.pause_frames, "resume_frames": parameters.resume_frames}
            state["paused"] = bool(read("receiver_pausing") & 1)
        return state

    def corruption(self) -> dict[str, int]:
        """Return how many frames came over the link, and how many of them were corrupted."""
        return corrupted(self.runtime, _CORRUPTION)
