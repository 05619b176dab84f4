"""How long frames take from host to host: a sample of them, captured at both ends, by the same clock.

Linux numbers the IP packets of a connection one by one, so a filter on the number's low bits picks the same
packets at both ends. One of 64 is captured, which disturbs the measurement little.
"""

from __future__ import annotations

import math
import signal
import struct
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy
from numpy.typing import NDArray

from lossylink.linux.lab import Lab
from lossylink.linux.lab.hosts import H8, INTERFACE
from lossylink.linux.lab.sniffer import sniffer_command
from lossylink.running.backends.live.capture import packets, wait_until_listening, wait_until_written
from lossylink.statistics.estimates import percentile

#: Bytes of each packet that are kept: Ethernet, IP and TCP headers.
_SNAPSHOT_BYTES = 64
#: Of the numbers of IP packets, those whose low bits are zero: one of 64.
_SAMPLE_MASK = 0x3F
#: Shorter IP packets carry no data worth timing.
_DATA_FROM_BYTES = 200
#: Where in a frame the IP packet's number and, without IP options, TCP's sequence number stand.
_NUMBER_AT, _SEQUENCE_AT = 14 + 4, 14 + 20 + 4

#: Instants of sending in seconds, and the times to the other end in microseconds.
Samples = tuple[NDArray[numpy.float64], NDArray[numpy.float64]]


class OneWay:
    """Captures a sample of the packets to a port of h8, at both hosts, while it is open."""

    def __init__(self, lab: Lab, *, port: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="lossylink-")
        self._lab, self._port = lab, port
        self._running: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> OneWay:
        for host in ("h4", "h8"):
            self._running[host] = self._listen(host)
        for process in self._running.values():
            wait_until_listening(process)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._folder.cleanup()

    def finish(self) -> Samples:
        """End the captures and return when each packet was sent and how long it took.

        The time of a packet that never came is infinite.
        """
        for host in self._running:
            wait_until_written(self._file(host))
        self._stop()
        sent, arrived = (_instants(self._file(host)) for host in ("h4", "h8"))
        both = [(when, (arrived.get(key, math.inf) - when) / 1e3) for key, when in sent.items()]
        table = numpy.array(both, dtype=numpy.float64).reshape(-1, 2)
        return table[:, 0] / 1e9, table[:, 1]

    def _file(self, host: str) -> Path:
        return Path(self._folder.name) / f"{host}.pcap"

    def _listen(self, host: str) -> subprocess.Popen[str]:
        sample = f"ip[4:2] & {_SAMPLE_MASK:#x} = 0 and ip[2:2] > {_DATA_FROM_BYTES}"
        command = sniffer_command(
            INTERFACE,
            str(self._file(host)),
            snapshot_bytes=_SNAPSHOT_BYTES,
            expression=f"dst host {H8.address} and tcp dst port {self._port} and {sample}",
        )
        return self._lab.start(host, command)

    def _stop(self) -> None:
        for process in self._running.values():
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
        self._running.clear()


def _instants(file: Path) -> dict[tuple[int, int], int]:
    """Return, by IP number and sequence number, when a packet passed; the first time if it did twice."""
    found: dict[tuple[int, int], int] = {}
    for when_ns, packet in packets(file):
        (number,) = struct.unpack_from(">H", packet, _NUMBER_AT)
        (sequence,) = struct.unpack_from(">I", packet, _SEQUENCE_AT)
        found.setdefault((number, sequence), when_ns)
    return found


#: Percentiles of the latency, by their keys.
_PERCENTILES = {"latency_us_p50": 50.0, "latency_us_p99": 99.0, "latency_us_p99_9": 99.9}


def summary(samples: Samples, *, since_s: float, until_s: float) -> dict[str, Any]:
    """Return the latencies of the packets that were sent in a part of the run, counted from the first.

    A packet that never came is later than all that did: a percentile among such packets is nothing.

    Examples
    --------
    >>> sent, took = numpy.array([5.0, 6.0, 7.0]), numpy.array([900.0, 30.0, 50.0])
    >>> summary((sent, took), since_s=0.5, until_s=3.0)["latency_us_mean"]
    40.0
    >>> lost = summary((sent, numpy.array([30.0, 50.0, numpy.inf])), since_s=0.0, until_s=3.0)
    >>> lost["latency_us_p50"], lost["latency_us_p99"], lost["latency_samples_lost"]
    (50.0, None, 1)
    """
    sent, took = samples
    begun = sent.min() if sent.size else 0.0
    counted = took[(sent >= begun + since_s) & (sent <= begun + until_s)]
    came = counted[numpy.isfinite(counted)]
    told = {"latency_samples": int(came.size), "latency_samples_lost": int(counted.size - came.size)}
    if not came.size:
        return {**told, "latency_us_mean": None, **dict.fromkeys(_PERCENTILES), "latency_us_max": None}
    percentiles = {name: percentile(counted, at) for name, at in _PERCENTILES.items()}
    return {
        **told,
        "latency_us_mean": float(came.mean()),
        **{name: value if math.isfinite(value) else None for name, value in percentiles.items()},
        "latency_us_max": float(came.max()),
    }
