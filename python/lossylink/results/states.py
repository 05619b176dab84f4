"""The state of a link's two ends in words, with the fields that LinkGuardian's artifact prints of switches.

A live lab and the simulator tell the same things by the same names, so both are shown by what stands here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lossylink.declared.protections import family_of
from lossylink.units import cells

#: The port that leads to the far switch.
_LINK = "link"

#: Counters of one end, or of one direction, by name.
Counters = Mapping[str, Any]


def sender(name: str, near: Counters, forward: Counters, *, ecn_bytes: int | None) -> Iterator[str]:
    """Yield the artifact's check_sender_state, by its names; ASIC counters have their nearest relative.

    Parameters
    ----------
    name
        The switch.
    near
        What the sending end reports.
    forward
        ``frames_offered`` and ``frames_lost`` of the direction that it sends in.
    ecn_bytes
        Depth of its queue from which frames are marked; none are when not given.
    """
    label = near.get("protection", "none")
    family = family_of(label)
    corrupting = bool(forward["frames_lost"])
    peer = f", peer {near['peer']}" if "peer" in near else ""
    yield f"sender ({name}), protection {label}{peer}" + (", sealed" if near.get("sealed") else "")
    yield f"ig_debug_counter (frames from the LAN): {near['from_lan']}"
    yield f"eg_debug_counter (frames to the link): {near['to_link']}"
    yield f"corruption_seq_no (egress pkt counter): {forward['frames_offered']}"
    yield f"emulated_corruption_counter (pkts dropped): {forward['frames_lost']}"
    yield f"Corrupting Port(s) ({int(corrupting)}): {_LINK if corrupting else ''}"
    yield f"Protected Port(s) ({int(family.protects)}): {_LINK if family.protects else ''}"
    yield f"ECN Marking Threshold: {cells(ecn_bytes)}"
    if "queue_bytes" in near:
        yield f"queue: {near['queue_bytes'] / 1000:g} KB (max {near['queue_longest_bytes'] / 1000:g} KB)"
    yield from family.sender_lines(near)


def receiver(name: str, far: Counters, forward: Counters) -> Iterator[str]:
    """Yield the artifact's check_receiver_state, by its names; parameters as in `sender`."""
    offered = forward["frames_offered"]
    # What arrives is protected as the other end says.
    label = far.get("peer_protection", far.get("protection", "none"))
    yield f"receiver ({name})"
    yield f"ig_debug_counter (frames from the link): {far['from_link']}"
    yield f"eg_debug_counter (frames to the LAN): {far['to_lan']}"
    yield f"LOSS RATE: {forward['frames_lost'] / offered if offered else 0.0:e}"
    yield from family_of(label).receiver_lines(far)


def carried(words: str, direction: Counters) -> str:
    """Say what one direction of the link has carried.

    Examples
    --------
    >>> carried("h4 -> h8", {"frames_offered": 1000, "frames_lost": 2})
    'h4 -> h8: 1000 frames, 2 corrupted'
    """
    return f"{words}: {direction['frames_offered']} frames, {direction['frames_lost']} corrupted"


def simulated(state: Mapping[str, Any]) -> str:
    """Return a state that a simulation has taken as text, as ``lab status`` shows a live one.

    Parameters
    ----------
    state
        An element of `lossylink.results.result.Result.states`.
    """
    near, far, link = state["near"], state["far"], state["link"]
    forward, reverse = link["directions"]["forward"], link["directions"]["reverse"]
    lines = (
        f"state with {state['protection']} at {state['at_us']:g} us",
        f"link {link['rate_bps'] / 1e9:g} Gb/s, MTU {link['mtu_bytes']}, "
        f"queue {link['queue_bytes'] / 1000:g} KB",
        "",
        *sender("sw2", near, forward, ecn_bytes=link["ecn_threshold_bytes"]),
        "",
        *receiver("sw6", far, forward),
        "",
        carried("h4 -> h8", forward),
        carried("h8 -> h4", reverse),
        f"queue drops: {near['queue_dropped']} at sw2",
    )
    return "\n".join(lines)
