"""Frames that are told apart at the far end, and how a share of them is written."""

from __future__ import annotations

import random

from lossylink.statistics.estimates import Estimate

from .bench import DifferenceError, Socket, drain

#: Length of each frame, without check sequence.
FRAME_BYTES = 300
_HEAD = bytes.fromhex("020000000008 020000000004 0800")


def numbered(number: int) -> bytes:
    """Return a frame unlike any other, from the near host to the far one."""
    head = _HEAD + number.to_bytes(4, "big")
    return head + random.Random(number).randbytes(FRAME_BYTES - len(head))


def numbers(receiver: Socket, *, seconds: float = 0.0) -> list[int]:
    """Return the numbers of the frames that have come, and of those that come until none did for a time.

    Raises
    ------
    DifferenceError
        A frame has changed.
    """
    found = []
    for frame in drain(receiver, seconds=seconds):
        number = int.from_bytes(frame[len(_HEAD) : len(_HEAD) + 4], "big")
        if frame != numbered(number):
            raise DifferenceError(f"a frame of {len(frame)} B came that was not sent: {frame[:32].hex()}")
        found.append(number)
    return found


def shown(estimate: Estimate) -> str:
    """Write a share, with its interval if it has one."""
    if estimate.is_exact:
        return f"{estimate.value:.3g}"
    return f"{estimate.value:.3g} [{estimate.low:.3g}, {estimate.high:.3g}]"
