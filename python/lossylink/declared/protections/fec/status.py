"""A code's state in words: what the encoder sent and has open, what the decoder rebuilt and keeps."""

from __future__ import annotations

from collections.abc import Iterator

from lossylink.declared.protections._family import Report


def sender_lines(near: Report) -> Iterator[str]:
    """Yield what the encoder is about; one that does not tell full blocks from others has one count of both.

    Examples
    --------
    >>> coder = {"sent_data": 8, "sent_parity": 2, "closed_blocks": 2, "open_data": 3}
    >>> print(*sender_lines({"coder": coder}), sep="; ")
    encoder: 8 data, 2 parity; data frames of the open block: 3; blocks closed: 2
    """
    if not (coder := near.get("coder")):
        return
    yield f"encoder: {coder['sent_data']} data, {coder['sent_parity']} parity"
    if "open_data" in coder:
        yield f"data frames of the open block: {coder['open_data']}"
    if "closed_blocks" in coder:
        yield f"blocks closed: {coder['closed_blocks']}"
    else:
        yield f"blocks closed before they were full: {coder['partial_blocks']}"
    if "meter_dropped" in coder:
        yield f"meter: {coder['meter_dropped']} dropped, {coder['meter_marked']} marked"


def receiver_lines(far: Report) -> Iterator[str]:
    """Yield what the decoder is about."""
    if not (coder := far.get("coder")):
        return
    yield f"decoder: {coder['recovered']} rebuilt, {coder['unrecovered']} lost for good"
    if "circulating" in coder:
        yield f"corrupted frames that wait for the end of their block: {coder['circulating']}"
    if "given_up_blocks" in coder:
        yield f"blocks given up: {coder['given_up_blocks']}, duplicates dropped: {coder['duplicates']}"
    if "kept_bytes" in coder:
        now, most = coder["kept_bytes"] / 1000, coder["kept_max_bytes"] / 1000
        yield f"decoder keeps: {now:g} KB (max {most:g} KB)"
