"""What this machine offers to the simulator and the live lab, each finding with its mend."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from lossylink import _native
from lossylink._package import manifest
from lossylink.errors import UserError
from lossylink.linux.bmv2.tools import COMPILER, SWITCH, version
from lossylink.linux.kernel import machine
from lossylink.linux.kernel.cache import cache_folder, find_kernel
from lossylink.linux.lab.xdp import obstacle

State = Literal["ok", "limited", "missing"]

#: Programs of the live lab: what each is for, and the Debian package that holds it.
TOOLS = {
    "ip": ("namespaces and links", "iproute2"),
    "ss": ("socket statistics", "iproute2"),
    "ping": ("connectivity checks", "iputils-ping"),
    "ethtool": ("switching offloads off", "ethtool"),
    "iperf3": ("throughput runs", "iperf3"),
    "tcpdump": ("captures", "tcpdump"),
    "tshark": ("reading captures", "tshark"),
}
#: Algorithms that the live experiments can ask the kernel for, and the module of each.
CONGESTION_CONTROLS = {"reno": None, "cubic": "tcp_cubic", "bbr": "tcp_bbr", "dctcp": "tcp_dctcp"}

_PROBE_SECONDS = 10


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    found: str
    mend: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return it as plain data."""
        return asdict(self)


def examine() -> list[Finding]:
    """Look at everything; takes well under a second.

    Examples
    --------
    >>> {finding.state for finding in examine()} <= {"ok", "limited", "missing"}
    True
    """
    looks: list[Callable[[], Finding]] = [_simulator, _machine, _clock]
    looks += [_tool(name) for name in TOOLS]
    looks += [_tun, _packet_sockets, _xdp, _namespaces, _congestion_controls, _real_time]
    looks += [_virtual_time, _virtual_rdma, _switches]
    return [look() for look in looks]


def _simulator() -> Finding:
    return Finding("simulator", "ok", f"lossylink {_native.version()}, Python {sys.version.split()[0]}")


def _machine() -> Finding:
    facts = manifest.machine()
    words = f"{facts['cores']} cores, {facts['memory_gib']} GiB, {facts['system']}"
    if facts["cores"] < 2:
        return Finding("machine", "limited", words, "the live lab keeps its timing only with 2 cores or more")
    return Finding("machine", "ok", words)


def _clock() -> Finding:
    path = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    source = path.read_text().strip() if path.is_file() else "unknown"
    if source in {"tsc", "kvm-clock", "arch_sys_counter"}:
        return Finding("clock", "ok", source)
    return Finding("clock", "limited", source, "live timing is coarse with this clock source; prefer tsc")


def _tool(name: str) -> Callable[[], Finding]:
    purpose, package = TOOLS[name]

    def look() -> Finding:
        path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
        if path:
            return Finding(f"{name} ({purpose})", "ok", path)
        return Finding(f"{name} ({purpose})", "missing", "not found", f"apt-get install {package}")

    return look


def _tun() -> Finding:
    what, path = "TAP interfaces", Path("/dev/net/tun")
    if not path.exists():
        return Finding(
            what,
            "missing",
            f"{path} does not exist",
            "modprobe tun, or give the container --device /dev/net/tun",
        )
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError as error:
        return Finding(what, "missing", f"{path}: {error.strerror}", "run as root, or allow access to it")
    return Finding(what, "ok", str(path))


def _packet_sockets() -> Finding:
    what = "packet sockets"
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except OSError as error:
        state: State = (
            "limited" if _can(["unshare", "--user", "--map-root-user", "--net", "true"]) else "missing"
        )
        mend = "run as root; inside a user namespace they work all the same"
        return Finding(what, state, f"{error.strerror}", mend)
    return Finding(what, "ok", "AF_PACKET opens")


def _xdp() -> Finding:
    reason = obstacle()
    if reason is None:
        return Finding("XDP sockets", "ok", "a program can be loaded and attached")
    return Finding("XDP sockets", "limited", reason, "optional: tap and packet ports do without")


def _namespaces() -> Finding:
    what = "network namespaces"
    if _can(["unshare", "--net", "true"]):
        return Finding(what, "ok", "can be made")
    if _can(["unshare", "--user", "--map-root-user", "--net", "true"]):
        return Finding(what, "ok", "can be made, inside a user namespace")
    return Finding(
        what,
        "missing",
        "refused by the kernel",
        "run as root, or sysctl -w kernel.unprivileged_userns_clone=1",
    )


def _congestion_controls() -> Finding:
    what = "congestion control"
    path = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    available = path.read_text().split() if path.is_file() else []
    absent = [name for name in CONGESTION_CONTROLS if name not in available]
    found = ", ".join(available) or "unknown"
    if not absent:
        return Finding(what, "ok", found)
    modules = " ".join(module for name in absent if (module := CONGESTION_CONTROLS[name]))
    return Finding(what, "limited", f"{found}; without {', '.join(absent)}", f"modprobe -a {modules}")


def _real_time() -> Finding:
    what = "real-time scheduling"
    probe = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"
    if _can([sys.executable, "-c", probe]):
        return Finding(what, "ok", "SCHED_FIFO is allowed")
    return Finding(
        what, "limited", "SCHED_FIFO is refused", "run as root, or allow it: ulimit -r, CAP_SYS_NICE"
    )


def _virtual_time() -> Finding:
    what = "virtual time"
    if reason := machine.architecture_obstacle():
        return Finding(what, "missing", reason, "run it on x86-64; the simulator runs here")
    if reason := machine.trace_obstacle():
        return Finding(what, "missing", reason, "sysctl -w kernel.yama.ptrace_scope=1, or allow ptrace")
    if kernel := find_kernel():
        return Finding(what, "ok", f"Linux {kernel.version} is built")
    if missing := machine.missing_tools():
        found = f"no kernel, and no {', '.join(missing)} to build one"
        return Finding(what, "missing", found, machine.install_line(missing))
    room = machine.free_bytes(cache_folder())
    if room < machine.ROOM_BYTES:
        found = f"no kernel, and {room / 1e9:.1f} GB free in {cache_folder()}"
        return Finding(what, "limited", found, f"make room: a build needs {machine.ROOM_BYTES / 1e9:.0f} GB")
    minutes = machine.build_minutes()
    return Finding(what, "limited", "no kernel yet", f"lossylink kernel build (about {minutes} min, no root)")


def _virtual_rdma() -> Finding:
    from lossylink.linux.guest.rdma import install_line, missing_files

    what = "RDMA in virtual time"
    if missing := missing_files():
        return Finding(what, "missing", f"no {', '.join(map(str, missing))}", install_line(missing))
    return Finding(what, "ok", "verbs and the provider for rxe are there")


def _switches() -> Finding:
    try:
        return Finding(
            "software switches", "ok", ", ".join(f"{tool} {version(tool)}" for tool in (COMPILER, SWITCH))
        )
    except UserError as error:
        found, _, mend = str(error).partition(": ")
        return Finding("software switches", "missing", found, mend)


def _can(command: list[str]) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
