"""The state of a lab in words, with the fields that the artifact's switches print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossylink.lab.lab import Lab

#: The port that leads to the far switch.
_LINK = "link"
#: A cell of the artifact's switches.
_CELL_BYTES = 80
#: Depths of the reorder buffer at which the sender is paused and resumed (rule G-16).
_PAUSE_BYTES, _RESUME_BYTES = 16 << 20, 8 << 20


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
    sender = guard.get("sender")
    peer = guard.get("peer", "not looked for")
    forward = link["directions"]["forward"]
    corrupting = bool(forward["frames_lost"])
    yield f"sender ({name}), protection {guard.get('protection', 'none')}, peer {peer}"
    if sender is not None:
        yield f"Next seq no: {sender['next_seq']}"
        yield f"Next seq era: {sender['next_seq_era']}"
        yield f"leading_ack: {sender['leading_ack']}"
        yield f"leading_ack_era: {sender['leading_ack_era']}"
    yield f"ig_debug_counter (frames from the LAN): {guard['from_lan']}"
    yield f"eg_debug_counter (frames to the link): {guard['to_link']}"
    yield f"corruption_seq_no (egress pkt counter): {forward['frames_offered']}"
    yield f"emulated_corruption_counter (pkts dropped): {forward['frames_lost']}"
    yield f"Emulated holes: {sender['holes'] if sender else 0} (lost, not sent again yet)"
    yield f"Corrupting Port(s) ({int(corrupting)}): {_LINK if corrupting else ''}"
    yield f"Protected Port(s) ({int(sender is not None)}): {_LINK if sender else ''}"
    yield f"No. of reTx copies: {sender['copies'] if sender else 0}"
    yield f"ECN Marking Threshold: {_cells(lab.settings.ecn_bytes)}"
    if sender is not None:
        now, most = sender["buffer_bytes"] / 1000, sender["buffer_max_bytes"] / 1000
        yield f"Retransmitted: {sender['retransmitted']}, beyond the cap: {sender['beyond_cap']}"
        yield f"Tx buffer: {now:g} KB (max {most:g} KB)"
        counts = (sender[name] for name in ("dummies", "notifications", "acks"))
        yield "Dummies: {}, notifications: {}, ACKs: {}".format(*counts)


def _receiver(name: str, guard: dict[str, Any], link: dict[str, Any]) -> Iterator[str]:
    """The artifact's check_receiver_state, by its names."""
    receiver = guard.get("receiver")
    forward = link["directions"]["forward"]
    offered = forward["frames_offered"]
    yield f"receiver ({name})"
    if receiver is not None:
        yield f"expected_seq_no: {receiver['expected_seq']}"
        # Each hole has a deadline of its own here (G-14), no timer packet counts one down.
        yield f"ack (time_remaining): {receiver['ack']} (-)"
        yield f"ack_era: {receiver['ack_era']}"
        yield f"leading_ack: {receiver['leading_ack']}"
        yield f"leading_ack_era: {receiver['leading_ack_era']}"
        yield f"leading_ack_notify_count: {int(receiver['ack_pending'])}"
    yield f"ig_debug_counter (frames from the link): {guard['from_link']}"
    yield f"eg_debug_counter (frames to the LAN): {guard['to_lan']}"
    if receiver is not None:
        yield "timeout_pkt_no_trigger_cntr: 0 (no timer packets)"
        yield f"timeout_pkt_trigger_cntr: {receiver['given_up']} (frames given up)"
    yield f"LOSS RATE: {forward['frames_lost'] / offered if offered else 0.0:e}"
    yield f"PFC resume threshold: {_cells(_RESUME_BYTES)}"
    yield f"PFC pause threshold: {_cells(_PAUSE_BYTES)}"
    if receiver is not None:
        now, most = receiver["buffer_bytes"] / 1000, receiver["buffer_max_bytes"] / 1000
        loop = guard.get("loop_us")
        yield f"PFC pauses: {receiver['pauses']}, resumes: {receiver['resumes']}"
        yield f"Lost: {receiver['lost']}, notifications: {receiver['notifications']}"
        yield f"Duplicates dropped: {receiver['duplicates']}"
        yield f"Rx buffer: {now:g} KB (max {most:g} KB)"
        yield f"loop: {'not measured' if loop is None else f'{loop:.0f} us'}"


def _cells(size_bytes: int | None) -> str:
    """Spell a depth as the artifact does.

    Examples
    --------
    >>> _cells(100_000), _cells(None)
    ('100.0KB (1250 cells)', 'none')
    """
    return "none" if size_bytes is None else f"{size_bytes / 1000:.1f}KB ({size_bytes // _CELL_BYTES} cells)"


def _coder(near: dict[str, Any], far: dict[str, Any]) -> Iterator[str]:
    """The coder of forward error correction, where the protection is one."""
    sent, received = near.get("coder"), far.get("coder")
    if sent is None or received is None:
        return
    yield f"encoder: {sent['sent_data']} data, {sent['sent_parity']} parity"
    yield f"blocks closed before they were full: {sent['partial_blocks']}"
    yield f"decoder: {received['recovered']} rebuilt, {received['unrecovered']} lost for good"
    yield ""


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
