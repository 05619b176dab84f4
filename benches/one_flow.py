"""What one TCP flow gets through this machine at MTU 1500, way by way.

``python benches/one_flow.py`` tries each way in turn, round after round, so that a machine whose speed drifts
slows all of them down alike, and prints medians:

- a cable without anything in between (veth);
- the fused lab, frame by frame and with offloads, without protection and with LinkGuardian on a link that
  corrupts one frame in a thousand;
- user-space WireGuard between the same cable's ends, where ``wireguard-go`` and ``wg`` are found.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

from lossylink.linux.lab import Lab, LabSettings
from lossylink.linux.lab.enclave import Enclave, is_private
from lossylink.linux.lab.settings import lab_settings
from tables import show

_ROUNDS = 5
_SECONDS = 4
#: Beyond what any way carries, with room for the whole window in its queue: nothing is dropped.
_LAB = LabSettings(rate_bps=10**11, queue_bytes=8_000_000, window_bytes=500_000)
_PAYLOAD_BYTES = 1460
#: Namespaces of the two hosts on a cable.
_HOSTS = ("lossylink-bench-a", "lossylink-bench-b")
#: How to run a command on the sender and on the receiver, and the receiver's address.
Ends = tuple[Callable[[Sequence[str]], list[str]], Callable[[Sequence[str]], list[str]], str]


@dataclass
class Way:
    """A way from host to host, and what one flow got through it in each round."""

    name: str
    open: Callable[[], object]
    gbps: list[float] = field(default_factory=list)
    retransmissions: list[int] = field(default_factory=list)

    def measure(self) -> None:
        """Send one CUBIC flow."""
        with self.open() as (sender, receiver, address):  # type: ignore[attr-defined]
            server = subprocess.Popen(
                receiver(["iperf3", "-s", "-1", "--forceflush"]), stdout=subprocess.PIPE, text=True
            )
            assert server.stdout is not None
            any("listening" in line for line in server.stdout)
            words = ["iperf3", "-c", address, "-J", "-C", "cubic", "-t", str(_SECONDS)]
            done = subprocess.run(sender(words), capture_output=True, text=True, check=True)
            server.communicate()
        end = json.loads(done.stdout)["end"]
        self.gbps.append(end["sum_received"]["bits_per_second"] / 1e9)
        self.retransmissions.append(end["sum_sent"]["retransmits"])


@contextmanager
def _lab(**changes: object) -> Iterator[Ends]:
    settings = lab_settings(**(_LAB.model_dump() | changes))
    with Lab.up(settings, name="benchflow", replace=True, owned=True) as up:
        yield lambda words: up.command("h4", words), lambda words: up.command("h8", words), "10.2.2.2"


@contextmanager
def _cable() -> Iterator[Ends]:
    enclave, (near, far) = Enclave(), _HOSTS
    try:
        enclave.ip(
            *(f"netns add {host}" for host in _HOSTS),
            f"link add name eth0 netns {near} type veth peer name eth0 netns {far}",
        )
        for number, host in enumerate(_HOSTS, start=1):
            for words in (f"address add 10.3.0.{number}/24 dev eth0", "link set eth0 up", "link set lo up"):
                enclave.run(["ip", "-n", host, *words.split()])
        yield lambda words: enclave.inside(near, words), lambda words: enclave.inside(far, words), "10.3.0.2"
    finally:
        for host in _HOSTS:
            enclave.run(["ip", "netns", "del", host], check=False)


@contextmanager
def _wireguard() -> Iterator[Ends]:
    with _cable() as (near, far, _), tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ends = [(near, "lossywg1", 1), (far, "lossywg2", 2)]
        keys = [subprocess.check_output(["wg", "genkey"], text=True) for _ in ends]
        publics = [subprocess.check_output(["wg", "pubkey"], input=key, text=True).strip() for key in keys]
        for (inside, name, number), key, public in zip(ends, keys, reversed(publics), strict=True):
            file = Path(folder) / name
            file.touch(mode=0o600)
            file.write_text(key)
            daemon = subprocess.Popen(inside(["wireguard-go", "-f", name]), stderr=subprocess.DEVNULL)
            stack.callback(daemon.wait)
            stack.callback(daemon.terminate)
            peer = 3 - number
            script = f"""
                until ip link show {name} > /dev/null 2>&1; do sleep 0.05; done
                wg set {name} private-key {file} listen-port 51820 \
                    peer {public} allowed-ips 10.4.0.{peer}/32 endpoint 10.3.0.{peer}:51820
                ip address add 10.4.0.{number}/24 dev {name}
                ip link set {name} mtu 1420 up
            """
            subprocess.run(inside(["timeout", "10", "sh", "-ec", script]), check=True)
        yield near, far, "10.4.0.2"


def _ways() -> list[Way]:
    loss = {"loss_forward": "1e-3"}
    ways = [
        Way("lab, frame by frame", lambda: _lab(offloads=False)),
        Way("lab, frame by frame, lg at 1e-3", lambda: _lab(offloads=False, protection="lg", **loss)),
        Way("lab", _lab),
        Way("lab, lg at 1e-3", lambda: _lab(protection="lg", **loss)),
    ]
    if is_private():
        print("veth and WireGuard: left out, they need root", file=sys.stderr)
        return ways
    ways.insert(0, Way("veth", _cable))
    if shutil.which("wireguard-go") and shutil.which("wg"):
        ways.append(Way("wireguard-go, MTU 1420", _wireguard))
    else:
        print("WireGuard: left out, apt-get install wireguard-go wireguard-tools", file=sys.stderr)
    return ways


def main() -> int:
    """Measure all ways and print a table."""
    ways = _ways()
    for number in range(_ROUNDS):
        for way in ways:
            print(f"round {number + 1} of {_ROUNDS}: {way.name} ...", file=sys.stderr, flush=True)
            way.measure()
    base = next(way for way in ways if way.name == "lab, frame by frame")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in (
        "way",
        "Gb/s, median",
        "least",
        "most",
        "thousand frames/s",
        "to frame by frame",
        "retransmissions",
    ):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for way in ways:
        median = statistics.median(way.gbps)
        # Within a round the machine is the same for both.
        ratio = statistics.median(one / other for one, other in zip(way.gbps, base.gbps, strict=True))
        table.add_row(
            way.name,
            f"{median:.2f}",
            f"{min(way.gbps):.2f}",
            f"{max(way.gbps):.2f}",
            f"{median * 1e6 / 8 / _PAYLOAD_BYTES:.0f}",
            f"{ratio:.2f}x",
            f"{statistics.median(way.retransmissions):g}",
        )
    show(table)
    print(
        f"{_ROUNDS} rounds of {_SECONDS} s, {os.cpu_count()} processors; "
        f"the window is {_LAB.window_bytes} bytes in the lab"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
