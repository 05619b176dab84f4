"""Counts the instructions of this process and of the threads that it starts, where the kernel lets it."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Iterator
from contextlib import contextmanager

#: perf_event_open(2) by machine; elsewhere nothing is counted.
_SYSCALL = {"x86_64": 298, "aarch64": 241}
_PERF_TYPE_HARDWARE, _PERF_COUNT_HW_INSTRUCTIONS = 0, 1
#: perf_event_attr version 0: 64 bytes. Bits of its flags: inherit, exclude_kernel, exclude_hv.
_ATTRIBUTE_BYTES, _FLAGS = 64, (1 << 1) | (1 << 5) | (1 << 6)


class Counter:
    """The count, once the measured block has ended; ``None`` where it cannot be had."""

    instructions: int | None = None


@contextmanager
def counted() -> Iterator[Counter]:
    """Count user-space instructions of the block, with all threads that begin in it."""
    counter = Counter()
    descriptor = _open()
    try:
        yield counter
        if descriptor is not None:
            counter.instructions = struct.unpack("<Q", os.read(descriptor, 8))[0] or None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _open() -> int | None:
    number = _SYSCALL.get(platform.machine())
    if number is None:
        return None
    attribute = struct.pack(
        "<IIQQQQQ", _PERF_TYPE_HARDWARE, _ATTRIBUTE_BYTES, _PERF_COUNT_HW_INSTRUCTIONS, 0, 0, 0, _FLAGS
    ).ljust(_ATTRIBUTE_BYTES, b"\0")
    # This process, any processor, no group, no flags.
    descriptor = ctypes.CDLL(None, use_errno=True).syscall(number, attribute, 0, -1, -1, 0)
    return descriptor if descriptor >= 0 else None
