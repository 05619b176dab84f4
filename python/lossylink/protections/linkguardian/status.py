"""LinkGuardian in ``lab status``, by the names that the artifact's switches print."""

from __future__ import annotations

from collections.abc import Iterator

from lossylink.lab.status import cells
from lossylink.protections._family import Report

#: Depths of the reorder buffer at which the sender is paused and resumed (rule G-16).
_PAUSE_BYTES, _RESUME_BYTES = 16 << 20, 8 << 20


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
    now, most = sender["buffer_bytes"] / 1000, sender["buffer_max_bytes"] / 1000
    yield f"Retransmitted: {sender['retransmitted']}, beyond the cap: {sender['beyond_cap']}"
    yield f"Tx buffer: {now:g} KB (max {most:g} KB)"
    counts = (sender[name] for name in ("dummies", "notifications", "acks"))
    yield "Dummies: {}, notifications: {}, ACKs: {}".format(*counts)


def receiver_lines(far: Report) -> Iterator[str]:
    """Yield the artifact's check_receiver_state."""
    receiver = far.get("receiver")
    if receiver is None:
        return
    yield f"expected_seq_no: {receiver['expected_seq']}"
    # Each hole has a deadline of its own here (G-14), no timer packet counts one down.
    yield f"ack (time_remaining): {receiver['ack']} (-)"
    yield f"ack_era: {receiver['ack_era']}"
    yield f"leading_ack: {receiver['leading_ack']}"
    yield f"leading_ack_era: {receiver['leading_ack_era']}"
    yield f"leading_ack_notify_count: {int(receiver['ack_pending'])}"
    yield "timeout_pkt_no_trigger_cntr: 0 (no timer packets)"
    yield f"timeout_pkt_trigger_cntr: {receiver['given_up']} (frames given up)"
    yield f"PFC resume threshold: {cells(_RESUME_BYTES)}"
    yield f"PFC pause threshold: {cells(_PAUSE_BYTES)}"
    now, most = receiver["buffer_bytes"] / 1000, receiver["buffer_max_bytes"] / 1000
    loop = far.get("loop_us")
    yield f"PFC pauses: {receiver['pauses']}, resumes: {receiver['resumes']}"
    yield f"Lost: {receiver['lost']}, notifications: {receiver['notifications']}"
    yield f"Duplicates dropped: {receiver['duplicates']}"
    yield f"Rx buffer: {now:g} KB (max {most:g} KB)"
    yield f"loop: {'not measured' if loop is None else f'{loop:.0f} us'}"
