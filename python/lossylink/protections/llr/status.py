"""Link-level retry in ``lab status``, by the counters' names of the Open Compute proposal (LLR-19)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lossylink.protections._family import Report


def sender_lines(near: Report) -> Iterator[str]:
    """Yield what the sending end did; a counter that a guard does not have is zero.

    Examples
    --------
    >>> list(sender_lines({}))
    []
    >>> for line in sender_lines({"llr": {"tx_ok": 9, "rx_nack": 1, "tx_replay": 2, "tx_timer_replays": 1}}):
    ...     print(line)
    tx_ok: 9, tx_replay: 2 (1 by the timer), frames sent again: 0
    rx_ack: 0, rx_nack: 1, rx_ack_nack_seq_error: 0
    tx_init: 0, rx_init_echo: 0
    flushes: 0, frames given up: 0, tx_discard: 0
    replay buffer: max 0 KB
    """
    if not (sender := near.get("llr")):
        return
    of = _counts(sender)
    yield (
        f"tx_ok: {of('tx_ok')}, tx_replay: {of('tx_replay')} ({of('tx_timer_replays')} by the timer), "
        f"frames sent again: {of('tx_replayed_frames')}"
    )
    yield ", ".join(f"{name}: {of(name)}" for name in ("rx_ack", "rx_nack", "rx_ack_nack_seq_error"))
    yield f"tx_init: {of('tx_init')}, rx_init_echo: {of('rx_init_echo')}"
    yield f"flushes: {of('tx_flushes')}, frames given up: {of('tx_given_up')}, tx_discard: {of('tx_discard')}"
    yield f"replay buffer: max {of('outstanding_max_bytes') / 1000:g} KB"


def receiver_lines(far: Report) -> Iterator[str]:
    """Yield what the receiving end did."""
    if not (receiver := far.get("llr")):
        return
    of = _counts(receiver)
    for names in (
        ("rx_ok", "rx_expected_seq_good", "rx_missing_seq", "rx_duplicate_seq"),
        ("tx_ack", "tx_nack", "rx_replay"),
        ("rx_init", "tx_init_echo"),
    ):
        yield ", ".join(f"{name}: {of(name)}" for name in names)


def _counts(group: Report) -> Callable[[str], int]:
    return lambda name: int(group.get(name, 0))
