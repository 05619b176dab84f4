"""Captures the frames of an interface into a pcap file, with the library of tcpdump.

tcpdump itself sets the groups of its process. The kernel forbids that in the user namespace of an ordinary
user, where it ends before the first frame.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import select
import signal
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_uint, c_void_p
from typing import Any, Final

from lossylink.errors import RunError

LIBRARY: Final = "libpcap.so.0.8"
"""As Debian and Ubuntu name it; it comes with tcpdump."""
BUFFER_BYTES: Final = 2**26
"""Room for frames that the process has not read yet."""
WHOLE_BYTES: Final = 2**18
"""A snapshot that cuts no frame, as that of tcpdump."""

#: How long a look at the interface waits for a frame.
_LOOK_MS = 100
#: From pcap.h: PCAP_ERRBUF_SIZE, PCAP_TSTAMP_PRECISION_NANO and PCAP_NETMASK_UNKNOWN.
_ERROR_BYTES, _NANOSECONDS, _NO_NETMASK = 256, 1, 0xFFFFFFFF

_LIBC = ctypes.CDLL(None)
_LIBC.ferror.argtypes = [c_void_p]


class _Program(ctypes.Structure):
    """A compiled filter."""

    _fields_ = (("length", c_uint), ("instructions", c_void_p))


class _Counts(ctypes.Structure):
    """Frames received, frames dropped for want of room, and frames that the interface dropped."""

    _fields_ = (("received", c_uint), ("dropped", c_uint), ("dropped_by_interface", c_uint))


def library() -> Any:
    """Return the library of tcpdump, with the types of its functions.

    Raises
    ------
    RunError
        It is not there.
    """
    try:
        pcap = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise RunError("captures need the library of tcpdump: apt-get install tcpdump") from error
    pcap.pcap_create.argtypes, pcap.pcap_create.restype = [c_char_p, c_char_p], c_void_p
    for name in ("snaplen", "immediate_mode", "buffer_size", "tstamp_precision", "promisc"):
        getattr(pcap, f"pcap_set_{name}").argtypes = [c_void_p, c_int]
    pcap.pcap_activate.argtypes = [c_void_p]
    pcap.pcap_geterr.argtypes, pcap.pcap_geterr.restype = [c_void_p], c_char_p
    pcap.pcap_statustostr.argtypes, pcap.pcap_statustostr.restype = [c_int], c_char_p
    pcap.pcap_compile.argtypes = [c_void_p, POINTER(_Program), c_char_p, c_int, c_uint]
    pcap.pcap_setfilter.argtypes = [c_void_p, POINTER(_Program)]
    pcap.pcap_setnonblock.argtypes = [c_void_p, c_int, c_char_p]
    pcap.pcap_get_selectable_fd.argtypes = [c_void_p]
    pcap.pcap_dump_open.argtypes, pcap.pcap_dump_open.restype = [c_void_p, c_char_p], c_void_p
    pcap.pcap_dispatch.argtypes = [c_void_p, c_int, c_void_p, c_void_p]
    pcap.pcap_dump_flush.argtypes = [c_void_p]
    pcap.pcap_dump_file.argtypes, pcap.pcap_dump_file.restype = [c_void_p], c_void_p
    pcap.pcap_dump_close.argtypes, pcap.pcap_dump_close.restype = [c_void_p], None
    pcap.pcap_stats.argtypes = [c_void_p, POINTER(_Counts)]
    pcap.pcap_close.argtypes, pcap.pcap_close.restype = [c_void_p], None
    return pcap


class Sniffer:
    """A capture of one interface, from its beginning to `finish`.

    Parameters
    ----------
    interface
        Its name, in the present network namespace.
    file
        A pcap file with nanoseconds, or ``-`` for standard output.
    snapshot_bytes
        Bytes of each frame that are kept.
    expression
        Which frames, in the words of pcap-filter(7); all when empty.

    Raises
    ------
    RunError
        The library, the interface, the expression or the file cannot serve.
    """

    def __init__(self, interface: str, file: str, *, snapshot_bytes: int, expression: str = "") -> None:
        self._pcap = library()
        words = ctypes.create_string_buffer(_ERROR_BYTES)
        self._handle = self._pcap.pcap_create(interface.encode(), words)
        if not self._handle:
            raise RunError(f"cannot capture {interface}: {words.value.decode(errors='replace')}")
        for name, value in (
            ("snaplen", snapshot_bytes),
            ("promisc", 1),
            ("immediate_mode", 1),
            ("buffer_size", BUFFER_BYTES),
            ("tstamp_precision", _NANOSECONDS),
        ):
            self._begin(interface, getattr(self._pcap, f"pcap_set_{name}")(self._handle, value))
        self._begin(interface, self._pcap.pcap_activate(self._handle))
        program = _Program()
        self._check(
            self._pcap.pcap_compile(self._handle, byref(program), expression.encode(), 1, _NO_NETMASK)
        )
        self._check(self._pcap.pcap_setfilter(self._handle, byref(program)))
        self._check(self._pcap.pcap_setnonblock(self._handle, 1, words))
        self._file = self._pcap.pcap_dump_open(self._handle, os.fsencode(file))
        self._check(0 if self._file else -1)
        self.captured = 0
        self._flush()

    def take(self, most: int | None = None) -> None:
        """Write the frames that are there, ``most`` at the most; wait a moment if there is none."""
        descriptor = self._pcap.pcap_get_selectable_fd(self._handle)
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        poller.poll(_LOOK_MS)
        taken = self._pcap.pcap_dispatch(
            self._handle, -1 if most is None else most, self._pcap.pcap_dump, self._file
        )
        self._check(taken)
        if taken > 0:
            self._flush()
            self.captured += taken

    def finish(self) -> int:
        """End the capture; return how many frames found no room."""
        counts = _Counts()
        self._check(self._pcap.pcap_stats(self._handle, byref(counts)))
        self._pcap.pcap_dump_close(self._file)
        self._pcap.pcap_close(self._handle)
        return int(counts.dropped)

    def _flush(self) -> None:
        self._pcap.pcap_dump_flush(self._file)
        # The library does not say whether a frame could be written.
        if _LIBC.ferror(self._pcap.pcap_dump_file(self._file)):
            raise RunError("the capture cannot be written; is the disk full?")

    def _check(self, status: int) -> None:
        if status < 0:
            raise RunError(
                f"the capture failed: {self._pcap.pcap_geterr(self._handle).decode(errors='replace')}"
            )

    def _begin(self, interface: str, status: int) -> None:
        """Refuse a status before the capture has begun: the library may say more than the status does."""
        if status < 0:
            said = self._pcap.pcap_geterr(self._handle) or self._pcap.pcap_statustostr(status)
            raise RunError(f"cannot capture {interface}: {said.decode(errors='replace')}")


def sniffer_command(
    interface: str,
    file: str,
    *,
    snapshot_bytes: int = WHOLE_BYTES,
    count: int | None = None,
    expression: str = "",
) -> list[str]:
    """Return the command that captures until SIGINT or SIGTERM. It says ``listening`` on stderr first."""
    limit = [] if count is None else [f"--count={count}"]
    words = [
        sys.executable,
        "-m",
        "lossylink.linux.lab.sniffer",
        interface,
        file,
        f"--snapshot={snapshot_bytes}",
    ]
    return [*words, *limit, "--", expression]


def main() -> None:
    """Capture as the command line says."""
    parser = argparse.ArgumentParser(prog="sniffer")
    parser.add_argument("interface")
    parser.add_argument("file")
    parser.add_argument("expression")
    parser.add_argument("--snapshot", type=int, required=True)
    parser.add_argument("--count", type=int)
    chosen = parser.parse_args()
    is_ended = False

    def end(_number: int, _frame: object) -> None:
        nonlocal is_ended
        is_ended = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    # Where a pipe takes no more, this ends like tcpdump.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        sniffer = Sniffer(
            chosen.interface, chosen.file, snapshot_bytes=chosen.snapshot, expression=chosen.expression
        )
        print(f"listening on {chosen.interface}", file=sys.stderr, flush=True)
        # After a signal one more look takes the frames that came before it.
        is_last = False
        while not is_last and sniffer.captured != chosen.count:
            is_last = is_ended
            sniffer.take(None if chosen.count is None else chosen.count - sniffer.captured)
        dropped = sniffer.finish()
    except RunError as error:
        sys.exit(f"error: {error}")
    print(f"{sniffer.captured:,} frames captured, {dropped:,} found no room", file=sys.stderr)


if __name__ == "__main__":
    main()
