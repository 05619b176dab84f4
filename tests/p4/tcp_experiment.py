"""A TCP flow over two switches, with and without LinkGuardian.

Run ``python -m tests.p4.tcp_experiment [SECONDS]``. The lab is that of ``lossylink lab up --dataplane bmv2``,
under the kernel's own CUBIC and iperf3. Beside it stands the simulator's flow over a link of that rate and
loss, whose round trip is the least that the lab's hosts see. The window is smaller than the queue, so the
link alone loses frames.
What switches in software cannot show is the published rate, and that a repair costs microseconds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lossylink.errors import LossylinkError
from lossylink.linux.lab import Lab, LabSettings
from lossylink.linux.lab.hosts import H8

from .simulated import flow

_LOSS_RATIO = 1e-2
_WINDOW_BYTES = 150_000
_SECONDS = 10
_GRACE_SECONDS = 20
PROTECTIONS = ("none", "lg:copies=2", "lg-nb:copies=2")


@dataclass(frozen=True)
class Figures:
    """What one flow came to, and the simulator's."""

    protection: str
    mbps: float
    retransmissions: int
    corrupted: int
    """Frames that the link corrupted, from h4 to h8."""
    given_up: int
    dropped: int
    """Frames that the queue dropped."""
    round_trip_ms: float
    simulated: Mapping[str, Any]

    def line(self) -> str:
        """Return the figures in a line."""
        row = self.simulated
        return (
            f"{self.protection}: {self.mbps:.1f} Mb/s, {self.retransmissions} TCP retransmissions, "
            f"{self.corrupted} frames corrupted, {self.given_up} given up, {self.dropped} dropped; "
            f"simulator: {row['measured_mbps']:.1f} Mb/s, {row['retransmissions']} TCP retransmissions"
        )


def measure(protection: str, *, seconds: int = _SECONDS, name: str = "p4tcp") -> Figures:
    """Run one flow.

    Raises
    ------
    RunError
        The lab or iperf3 refuses.
    """
    settings = LabSettings(
        dataplane="bmv2", loss_forward=str(_LOSS_RATIO), protection=protection, window_bytes=_WINDOW_BYTES
    )
    with Lab.up(settings, name=name, owned=True) as lab:
        round_trip_ms = float(lab.ping_check().rpartition("min/avg/max/mdev = ")[2].split("/")[0])
        server = lab.start("h8", ["iperf3", "-s", "-1", "--forceflush"])
        for line in server.stdout or ():
            if "listening" in line:
                break
        command = ["iperf3", "-c", H8.address, "-J", "-C", "cubic", "-t", str(seconds)]
        ended = json.loads(lab.run("h4", command, seconds=seconds + _GRACE_SECONDS))["end"]
        server.communicate(timeout=_GRACE_SECONDS)
        lost = lab.link.counters()["directions"]["forward"]["frames_lost"]
        near, far = lab.guards()
    return Figures(
        protection=protection,
        mbps=ended["sum_received"]["bits_per_second"] / 1e6,
        retransmissions=ended["sum_sent"]["retransmits"],
        corrupted=lost,
        given_up=far["receiver"]["given_up"],
        dropped=near["waiting_or_dropped"],
        round_trip_ms=round_trip_ms,
        simulated=flow(
            protection,
            _LOSS_RATIO,
            rate_bps=settings.rate_bps,
            window_bytes=_WINDOW_BYTES,
            round_trip_ms=round_trip_ms,
            seconds=seconds,
        ),
    )


def main(words: Sequence[str]) -> int:
    """Measure each protection, for as many seconds as said, and return the exit code."""
    seconds = int(words[0]) if words else _SECONDS
    try:
        for protection in PROTECTIONS:
            print(measure(protection, seconds=seconds).line(), flush=True)
    except LossylinkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
