"""The state of a lab in words, with the fields that the artifact's switches print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lossylink.protections import family_of

if TYPE_CHECKING:
    from lossylink.lab.lab import Lab

#: The port that leads to the far switch.
_LINK = "link"
#: A cell of the artifact's switches.
_CELL_BYTES = 80


def describe(lab: Lab) -> str:
    """Return the whole status as text."""
    near, far = lab.guards()
    link = lab.link.counters()
    lines = [
        *_head(lab, link),
        "",
        *_sender("sw2", near, lab, link),
        "",
        *_receiver("sw6", far, link),
        "",
        *_link(lab, link),
    ]
    return "\n".join(lines)


def _head(lab: Lab, link: dict[str, Any]) -> Iterator[str]:
    settings = lab.settings
    yield (
        f"link {settings.rate_bps / 1e9:g} Gb/s, round trip {settings.rtt_ps / 1e6:g} us, "
        f"MTU {settings.mtu_bytes}, queue {settings.queue_bytes / 1000:g} KB, "
        f"up {link['uptime_seconds']:.1f} s"
    )
    note = link.get("scheduling_note")
    yield f"scheduling: {link['scheduling']}" + (f" ({note})" if note else "")


def _sender(name: str, guard: dict[str, Any], lab: Lab, link: dict[str, Any]) -> Iterator[str]:
    """The artifact's check_sender_state, by its names; ASIC counters have their nearest relative."""
    label = guard.get("protection", "none")
    family = family_of(label)
    forward = link["directions"]["forward"]
    corrupting = bool(forward["frames_lost"])
    yield f"sender ({name}), protection {label}, peer {guard.get('peer', 'not looked for')}"
    yield f"ig_debug_counter (frames from the LAN): {guard['from_lan']}"
    yield f"eg_debug_counter (frames to the link): {guard['to_link']}"
    yield f"corruption_seq_no (egress pkt counter): {forward['frames_offered']}"
    yield f"emulated_corruption_counter (pkts dropped): {forward['frames_lost']}"
    yield f"Corrupting Port(s) ({int(corrupting)}): {_LINK if corrupting else ''}"
    yield f"Protected Port(s) ({int(family.protects)}): {_LINK if family.protects else ''}"
    yield f"ECN Marking Threshold: {cells(lab.settings.ecn_bytes)}"
    yield from family.sender_lines(guard)


def _receiver(name: str, guard: dict[str, Any], link: dict[str, Any]) -> Iterator[str]:
    """The artifact's check_receiver_state, by its names."""
    forward = link["directions"]["forward"]
    offered = forward["frames_offered"]
    # What arrives is protected as the other end says.
    label = guard.get("peer_protection", guard.get("protection", "none"))
    yield f"receiver ({name})"
    yield f"ig_debug_counter (frames from the link): {guard['from_link']}"
    yield f"eg_debug_counter (frames to the LAN): {guard['to_lan']}"
    yield f"LOSS RATE: {forward['frames_lost'] / offered if offered else 0.0:e}"
    yield from family_of(label).receiver_lines(guard)


def cells(size_bytes: int | None) -> str:
    """Spell a depth as the artifact does.

    Examples
    --------
    >>> cells(100_000), cells(None)
    ('100.0KB (1250 cells)', 'none')
    """
    return "none" if size_bytes is None else f"{size_bytes / 1000:.1f}KB ({size_bytes // _CELL_BYTES} cells)"


def _link(lab: Lab, link: dict[str, Any]) -> Iterator[str]:
    for direction, words in (("forward", "h4 -> h8"), ("reverse", "h8 -> h4")):
        counters, late = link["directions"][direction], link["lateness"][direction]
        yield (
            f"{words}: {counters['frames_offered']} frames, {counters['frames_lost']} corrupted; "
            f"late p50 {late['p50_us']:.1f}, p99 {late['p99_us']:.1f}, max {late['max_us']:.1f} us"
        )
    drops = [guard["queue_dropped"] for guard in lab.guards()]
    missed = sum(port["missed"] + port["send_refused"] for port in lab.ports())
    yield f"queue drops: {drops[0]} at sw2, {drops[1]} at sw6; refused or missed at ports: {missed}"
