"""The ceiling of this machine for each kind of port, frame by frame: one TCP flow, and the smallest frames.

``python benches/ports.py`` brings a lab up for each port, on a link that is never the limit.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from lossylink.linux.lab import Lab, LabSettings, xdp
from lossylink.linux.lab.process import Process
from lossylink.linux.lab.settings import lab_settings
from tables import show

#: Beyond what any port carries.
_RATE_BPS = 100 * 10**9
#: Room for the largest window of TCP, so that nothing is dropped.
_QUEUE_BYTES = 16 * 2**20
_SECONDS = 3
#: Payload of the smallest frame: 60 bytes with Ethernet, IP and UDP headers.
_SMALLEST_BYTES = 18
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Ceiling:
    """What one kind of port carries."""

    port: str
    gbps_1500: float
    gbps_9000: float
    kpps: float
    ns_per_frame: float
    lost_between: int


def measure(port: str) -> Ceiling:
    """Measure one kind of port."""
    gbps_1500, dropped = _tcp(port, 1500)
    gbps_9000, _ = _tcp(port, 9000)
    kpps, ns_per_frame = _smallest(port)
    return Ceiling(port, gbps_1500, gbps_9000, kpps, ns_per_frame, dropped)


def _settings(port: str, mtu_bytes: int) -> LabSettings:
    return lab_settings(
        port=port,
        mtu_bytes=mtu_bytes,
        rate_bps=_RATE_BPS,
        rtt_ps=0,
        queue_bytes=_QUEUE_BYTES,
        offloads=False,
    )


def _iperf(lab: Lab, *words: str) -> dict[str, dict[str, dict[str, float]]]:
    server = lab.start("h8", ["iperf3", "-s", "-1", "--forceflush"])
    for line in server.stdout or ():
        if "listening" in line:
            break
    command = ["iperf3", "-c", "10.2.2.2", "-J", "-t", str(_SECONDS), *words]
    report: dict[str, dict[str, dict[str, float]]] = json.loads(lab.run("h4", command, seconds=_SECONDS + 20))
    server.communicate()
    return report


def _tcp(port: str, mtu_bytes: int) -> tuple[float, int]:
    """Return what one CUBIC flow carries, in Gb/s, and the frames lost between kernel and lab."""
    with Lab.up(_settings(port, mtu_bytes), name=f"bench{port}", replace=True, owned=True) as lab:
        report = _iperf(lab, "-C", "cubic")
        dropped = sum(one["missed"] + one["send_refused"] for one in lab.ports())
    return report["end"]["sum_received"]["bits_per_second"] / 1e9, dropped


def _smallest(port: str) -> tuple[float, float]:
    """Return thousands of the smallest frames a second, and the time of the link's process for each."""
    with Lab.up(_settings(port, 1500), name=f"bench{port}", replace=True, owned=True) as lab:
        plane = _plane(lab)
        before, spent, started = _delivered(lab), _cpu_seconds(plane), time.monotonic()
        _iperf(lab, "-u", "-b", "0", "-l", str(_SMALLEST_BYTES))
        frames = _delivered(lab) - before
        seconds = _cpu_seconds(plane) - spent
        elapsed = min(time.monotonic() - started, float(_SECONDS))
    return frames / elapsed / 1e3, seconds * 1e9 / max(frames, 1)


def _plane(lab: Lab) -> Process:
    # The one whose configuration names its control socket; others in its namespace are the lab's helpers.
    name = str(lab.directory.control("path")).encode()
    found = lab.enclave.processes(f"{lab.directory.prefix}wire")
    return next(one for one in found if name in Path(f"/proc/{one.pid}/cmdline").read_bytes())


def _delivered(lab: Lab) -> int:
    counters = lab.link.counters()["directions"]
    return int(counters["forward"]["frames_delivered"])


def _cpu_seconds(process: Process) -> float:
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    # User and system time, counted from the state behind the command's name.
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND


def main() -> int:
    """Measure every port that works here and print a table."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("port", "Gb/s, MTU 1500", "MTU 9000", "kpps", "ns per frame", "lost between"):
        table.add_column(heading, justify="left" if heading == "port" else "right")
    for port in ("tap", "packet", "xdp"):
        if port == "xdp" and (reason := xdp.obstacle()):
            print(f"xdp: {reason}", file=sys.stderr)
            continue
        print(f"{port} ...", file=sys.stderr, flush=True)
        one = measure(port)
        table.add_row(
            one.port,
            f"{one.gbps_1500:.2f}",
            f"{one.gbps_9000:.2f}",
            f"{one.kpps:.0f}",
            f"{one.ns_per_frame:,.0f}",
            str(one.lost_between),
        )
    show(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
