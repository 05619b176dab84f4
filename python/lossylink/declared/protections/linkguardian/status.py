"""LinkGuardian's state in words, by the names that the artifact's switches print."""

from __future__ import annotations

from collections.abc import Iterator

from lossylink.declared.protections._family import Report
from lossylink.units import cells


def sender_lines(near: Report) -> Iterator[str]:
    """Yield the artifact's check_sender_state.

    Examples
    --------
    >>> list(sender_lines({}))
    []
    """
    sender = near.get("sender")
    if sender is None:
        return
    yield f"Next seq no: {sender['next_seq']}"
    yield f"Next seq era: {sender['next_seq_era']}"
    yield f"leading_ack: {sender['leading_ack']}"
    yield f"leading_ack_era: {sender['leading_ack_era']}"
    yield f"Emulated holes: {sender['holes']} (lost, not sent again yet)"
    yield f"No. of reTx copies: {sender['copies']}"
    yield f"Unacknowledged: {sender['outstanding']}, dummies due: {sender['dummies_due']}"
    yield f"Retransmitted: {sender['retransmitted']}, beyond the cap: {sender['beyond_cap']}"
    if "buffer_bytes" in sender:
        now, most = sender["buffer_bytes"] / 1000, sender["buffer_max_bytes"] / 1000
        yield f"Tx buffer: {now:g} KB (max {most:g} KB), {sender['buffer_frames']} copies"
    counts = (sender[name] for name in ("dummies", "notifications", "acks"))
    yield "Dummies: {}, notifications: {}, ACKs: {}".format(*counts)
    if "queue_paused" in sender:
        held = "yes" if sender["queue_paused"] else "no"
        expired = f", pauses that ran out: {sender['pauses_expired']}" if "pauses_expired" in sender else ""
        yield f"queue paused: {held}{expired}"


def receiver_lines(far: Report) -> Iterator[str]:
    """Yield the artifact's check_receiver_state; a receiving end that keeps no order has fewer fields."""
    receiver = far.get("receiver")
    if receiver is None:
        return
    yield f"expected_seq_no: {receiver['expected_seq']}"
    is_ordered = receiver.get("ack") is not None
    if is_ordered:
        # Live, each hole has a deadline of its own (G-14), and no timer packet counts one down.
        yield f"ack (time_remaining): {receiver['ack']} ({receiver.get('time_remaining', '-')})"
        yield f"ack_era: {receiver['ack_era']}"
    yield f"leading_ack: {receiver['leading_ack']}"
    yield f"leading_ack_era: {receiver['leading_ack_era']}"
    yield f"leading_ack_notify_count: {receiver['ack_pending']}"
    if is_ordered:
        yield f"timeout_pkt_no_trigger_cntr: {receiver.get('timer_packets', '0 (no timer packets)')}"
        yield f"timeout_pkt_trigger_cntr: {receiver['given_up']} (frames given up)"
    if "pause_bytes" in receiver:
        yield f"PFC resume threshold: {cells(receiver['resume_bytes'])}"
        yield f"PFC pause threshold: {cells(receiver['pause_bytes'])}"
    if "pause_frames" in receiver:
        # A software switch counts frames, and no cells.
        yield f"PFC resume threshold: {receiver['resume_frames']} frames"
        yield f"PFC pause threshold: {receiver['pause_frames']} frames"
    if "paused" in receiver:
        yield f"PFC pauses: {receiver['pauses']}, resumes: {receiver['resumes']}"
        yield f"PFC state: {'paused' if receiver['paused'] else 'running'}"
    yield f"Lost: {receiver['lost']}, notifications: {receiver['notifications']}"
    yield f"No. of control frame copies: {receiver['control_copies']}"
    yield f"Duplicates dropped: {receiver['duplicates']}"
    if "buffer_bytes" in receiver:
        now, most = receiver["buffer_bytes"] / 1000, receiver["buffer_max_bytes"] / 1000
        yield f"Rx buffer: {now:g} KB (max {most:g} KB), no room for {receiver['buffer_overflowed']}"
    if "loop_us" in far:
        loop = far["loop_us"]
        yield f"loop: {'not measured' if loop is None else f'{loop:.0f} us'}"
