"""The state of a lab in words, with the fields that the artifact's switches print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossylink.lab.lab import Lab


def describe(lab: Lab) -> str:
    """Return the whole status as text."""
    near, far = lab.guards()
    link = lab.link.counters()
    lines = [
        *_head(lab, link),
        "",
        *_sender("sw2", near),
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


def _sender(name: str, guard: dict[str, Any]) -> Iterator[str]:
    """The artifact's check_sender_state; counters of the ASIC have their nearest relative here."""
    sender = guard.get("sender")
    peer = guard.get("peer", "not looked for")
    yield f"sender ({name}), protection {guard.get('protection', 'none')}, peer {peer}"
    if sender is None:
        yield f"Frames to the link: {guard['to_link']}"
        return
    yield f"Next seq no: {sender['next_seq']}"
    yield f"Next seq era: {sender['next_seq_era']}"
    yield f"leading_ack: {sender['leading_ack']}"
    yield f"leading_ack_era: {sender['leading_ack_era']}"
    yield f"ig_debug_counter (frames from the LAN): {guard['from_lan']}"
    yield f"eg_debug_counter (frames to the link): {guard['to_link']}"
    yield f"corruption_seq_no (egress pkt counter): {sender['data']}"
    yield f"Holes (lost, not sent again yet): {sender['holes']}"
    yield f"Retransmitted: {sender['retransmitted']}, beyond the cap: {sender['beyond_cap']}"
    yield f"No. of reTx copies: {sender['copies']}"
    yield f"Tx buffer: {sender['buffer_bytes'] / 1000:g} KB (max {sender['buffer_max_bytes'] / 1000:g} KB)"
    yield f"Dummies: {sender['dummies']}, notifications: {sender['notifications']}, ACKs: {sender['acks']}"


def _receiver(name: str, guard: dict[str, Any], link: dict[str, Any]) -> Iterator[str]:
    """The artifact's check_receiver_state."""
    receiver = guard.get("receiver")
    forward = link["directions"]["forward"]
    offered = forward["frames_offered"]
    yield f"receiver ({name})"
    if receiver is not None:
        yield f"expected_seq_no: {receiver['expected_seq']}"
        yield f"ack: {receiver['ack']} (gives up {_times(receiver['given_up'])} so far)"
        yield f"ack_era: {receiver['ack_era']}"
        yield f"leading_ack: {receiver['leading_ack']}"
        yield f"leading_ack_era: {receiver['leading_ack_era']}"
        yield f"leading_ack_notify_count: {int(receiver['ack_pending'])}"
        yield f"ig_debug_counter (frames from the link): {guard['from_link']}"
        yield f"eg_debug_counter (frames to the LAN): {guard['to_lan']}"
        yield f"Lost: {receiver['lost']}, notifications: {receiver['notifications']}"
        yield f"Duplicates dropped: {receiver['duplicates']}"
        now, most = receiver["buffer_bytes"] / 1000, receiver["buffer_max_bytes"] / 1000
        yield f"Rx buffer: {now:g} KB (max {most:g} KB)"
        yield f"PFC pauses: {receiver['pauses']}, resumes: {receiver['resumes']}"
        loop = guard.get("loop_us")
        yield f"loop: {'not measured' if loop is None else f'{loop:.0f} us'}"
    yield f"LOSS RATE: {forward['frames_lost'] / offered if offered else 0.0:e}"


def _link(lab: Lab, link: dict[str, Any]) -> Iterator[str]:
    for direction, words in (("forward", "h4 -> h8"), ("reverse", "h8 -> h4")):
        counters, late = link["directions"][direction], link["lateness"][direction]
        yield (
            f"{words}: {counters['frames_offered']} frames, {counters['frames_lost']} corrupted; "
            f"late p50 {late['p50_us']:.1f}, p99 {late['p99_us']:.1f}, max {late['max_us']:.1f} us"
        )
    drops = [guard["queue_dropped"] for guard in lab.guards()]
    missed = sum(port["missed"] + port["send_refused"] for port in link["ports"].values())
    yield f"queue drops: {drops[0]} at sw2, {drops[1]} at sw6; refused or missed at ports: {missed}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
