"""Link-level retry's state in words, by the counters' names of the Open Compute proposal (LLR-19)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lossylink.declared.protections._family import Report

#: What ``tx_state`` and ``rx_state`` say.
_SENDING = ("off", "INIT sent", "sends new frames", "replays", "flushed")
_RECEIVING = ("off", "sends ACKs", "is to send a NACK", "waits for what it asked for")


def sender_lines(near: Report) -> Iterator[str]:
    """Yield what the sending end is about and did; a counter that an end does not have is zero.

    Examples
    --------
    >>> list(sender_lines({}))
    []
    >>> for line in sender_lines({"llr": {"tx_ok": 9, "rx_nack": 1, "tx_replay": 2, "tx_timer_replays": 1}}):
    ...     print(line)
    tx_state: 0 (off), next number: 0
    outstanding: 0 frames, 0 KB of 0 KB
    tx_ok: 9, tx_replay: 2 (1 by the timer), frames sent again: 0
    rx_ack: 0, rx_nack: 1, rx_ack_nack_seq_error: 0
    tx_init: 0, rx_init_echo: 0
    flushes: 0, frames given up: 0, tx_discard: 0
    replay buffer: max 0 KB, replay timer: 0 us
    """
    if not (sender := near.get("llr")):
        return
    of = _counts(sender)
    yield f"tx_state: {of('tx_state')} ({_SENDING[of('tx_state')]}), next number: {of('tx_next')}"
    yield (
        f"outstanding: {of('outstanding_frames')} frames, {of('outstanding_bytes') / 1000:g} KB "
        f"of {of('window_bytes') / 1000:g} KB"
    )
    yield (
        f"tx_ok: {of('tx_ok')}, tx_replay: {of('tx_replay')} ({of('tx_timer_replays')} by the timer), "
        f"frames sent again: {of('tx_replayed_frames')}"
    )
    yield ", ".join(f"{name}: {of(name)}" for name in ("rx_ack", "rx_nack", "rx_ack_nack_seq_error"))
    yield f"tx_init: {of('tx_init')}, rx_init_echo: {of('rx_init_echo')}"
    yield f"flushes: {of('tx_flushes')}, frames given up: {of('tx_given_up')}, tx_discard: {of('tx_discard')}"
    most, timer = of("outstanding_max_bytes") / 1000, of("replay_timer_ns") / 1000
    yield f"replay buffer: max {most:g} KB, replay timer: {timer:g} us"


def receiver_lines(far: Report) -> Iterator[str]:
    """Yield what the receiving end is about and did."""
    if not (receiver := far.get("llr")):
        return
    of = _counts(receiver)
    yield f"rx_state: {of('rx_state')} ({_RECEIVING[of('rx_state')]}), expected number: {of('rx_expected')}"
    for names in (
        ("rx_ok", "rx_expected_seq_good", "rx_missing_seq", "rx_duplicate_seq"),
        ("tx_ack", "tx_nack", "rx_replay"),
        ("rx_init", "tx_init_echo"),
    ):
        yield ", ".join(f"{name}: {of(name)}" for name in names)


def _counts(group: Report) -> Callable[[str], int]:
    return lambda name: int(group.get(name, 0))
