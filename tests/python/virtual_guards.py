"""What `test_virtual_guards` lets happen to two guards in a guest, and what their wire hears meanwhile.

The tests call `faults`, `succession`, `ended`, `floods`, `hostile` and `failing` in the guest, and get
plain data. All instants are nanoseconds of the guest's monotonic clock.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import json
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from lossylink.linux.lab import Lab
from lossylink.linux.lab.hosts import H4, H8, INTERFACE
from lossylink.linux.lab.plane import start_plane
from lossylink.linux.lab.process import Process
from lossylink.linux.lab.topology import parts
from lossylink.running.backends.live.stress import run_load, wait_for_guards

MS = 10**6
#: EtherTypes on the wire: a message between guards, a frame that LinkGuardian protects, a frame of a host.
MESSAGE, PROTECTED, PROBE = "88b5", "abcd", "9000"
#: Behind the header of a message: its kind, to whom and in which session it is said.
_KINDS = ("hello", "reply", "pause", "resume")
_MESSAGE = struct.Struct("!3xB 4x II")
_HEADER_BYTES = 14
#: From linux/socket.h and linux/sched.h.
_SO_RCVBUFFORCE, _SO_TIMESTAMPNS, _CLONE_NEWNET = 33, 35, 0x40000000
_ALL_PROTOCOLS, _OUTGOING = 3, 4
_EAR_BYTES = 2**26
#: How often the guards are asked whether they agree.
STEP_NS = 50_000
#: Guards say something every 50 ms.
HELLO_INTERVAL_NS = 50 * MS
_PATIENCE_NS = 3_000 * MS

T = TypeVar("T")


@dataclass(frozen=True)
class Frame:
    """One frame that a port has taken in; of a message also its kind, for whom it is and its session."""

    at_ns: int
    octets: int
    ethertype: str
    kind: str = ""
    peer: int = 0
    session: int = 0


def inside(lab: Lab, box: str, function: Callable[[], T]) -> T:
    """Call a function in the network namespace of a box; sockets stay in the one they were made in."""

    def enter() -> T:
        with open(f"/run/netns/{lab.directory.prefix}{box}") as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), _CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), f"enter {box}")
        return function()

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(enter).result()


class Ear:
    """Hears what comes in at an interface, with the kernel's stamps; takes no time while it listens."""

    def __init__(self, lab: Lab, box: str, interface: str) -> None:
        self._socket = inside(lab, box, lambda: self._open(interface))
        self._offset_ns = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()

    @staticmethod
    def _open(interface: str) -> socket.socket:
        ear = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
        ear.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _EAR_BYTES)
        ear.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        ear.bind((interface, _ALL_PROTOCOLS))
        ear.setblocking(False)
        return ear

    def heard(self) -> list[Frame]:
        """Return the frames since the last call."""
        frames: list[Frame] = []
        while True:
            try:
                octets, ((_, _, stamp),), _, address = self._socket.recvmsg(2048, 64)
            except BlockingIOError:
                return frames
            except OSError as error:
                # An interface that went down says so once.
                if error.errno != errno.ENETDOWN:
                    raise
                continue
            if address[2] != _OUTGOING:
                seconds, nanoseconds = struct.unpack("qq", stamp)
                frames.append(_frame(seconds * 10**9 + nanoseconds - self._offset_ns, octets))


def _frame(at_ns: int, octets: bytes) -> Frame:
    ethertype = octets[12:14].hex()
    if ethertype != MESSAGE:
        return Frame(at_ns, len(octets), ethertype)
    kind, peer, session = _MESSAGE.unpack_from(octets, _HEADER_BYTES)
    return Frame(at_ns, len(octets), ethertype, _KINDS[kind], peer, session)


def plain(frames: list[Frame]) -> list[dict[str, Any]]:
    """Return frames as plain data."""
    return [asdict(frame) for frame in frames]


class Wire:
    """What both guards put on the wire."""

    def __init__(self, lab: Lab) -> None:
        self._ears = {end: Ear(lab, "wire", end) for end in ("near", "far")}

    def heard(self) -> dict[str, list[dict[str, Any]]]:
        """Return what each guard has sent since the last call, by the end of the wire."""
        return {end: plain(ear.heard()) for end, ear in self._ears.items()}


class Prober:
    """Sends frames of a host at instants that it is told."""

    def __init__(self, lab: Lab) -> None:
        self._socket = inside(lab, H4.name, self._open)

    @staticmethod
    def _open() -> socket.socket:
        mouth = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        mouth.bind((INTERFACE, 0))
        return mouth

    def send_until(self, end_ns: int, *, every_ns: int) -> list[int]:
        """Send a frame at each multiple of a time until an instant; return when each was sent."""
        addresses = bytes.fromhex((H8.mac + H4.mac).replace(":", ""))
        frame = (addresses + bytes.fromhex(PROBE)).ljust(60, b"\0")
        sent = []
        while (now := time.monotonic_ns()) < end_ns:
            sleep_until(now + every_ns - now % every_ns)
            sent.append(time.monotonic_ns())
            self._socket.send(frame)
        return sent


def sleep_until(instant_ns: int) -> None:
    time.sleep(max(0, instant_ns - time.monotonic_ns()) / 1e9)


def _process_of(lab: Lab, box: str) -> Process:
    """Return the process of a data plane."""
    name = os.fsencode(lab.directory.control(box))
    processes = lab.enclave.processes(lab.directory.prefix + box)
    (found,) = [one for one in processes if name in Path(f"/proc/{one.pid}/cmdline").read_bytes()]
    return found


def _kill(lab: Lab, box: str) -> int:
    """Kill a data plane and wait until it is gone; return when it was killed."""
    process = _process_of(lab, box)
    now = time.monotonic_ns()
    process.signal(signal.SIGKILL)
    while process.is_alive():
        time.sleep(1e-6)
    return now


def _start(lab: Lab, box: str) -> None:
    """Start a killed data plane again, as it was."""
    config = json.loads(Path(f"{lab.directory.control(box)}.json").read_text())
    start_plane(lab.enclave, lab.directory.prefix + box, config, lab.directory.log(box))


def _when_agreed(lab: Lab, *, step_ns: int = STEP_NS) -> int:
    """Wait until both guards agree; return when, to within a step."""
    end = time.monotonic_ns() + _PATIENCE_NS
    for plane, guard in parts(lab.settings).guards:
        while lab.plane(plane).counters()["guards"][guard]["peer"] != "agreed":
            assert time.monotonic_ns() < end, lab.guards()
            time.sleep(step_ns / 1e9)
    return time.monotonic_ns()


def _lateness_us(lab: Lab) -> float:
    """Return by how much any deadline of any data plane was missed."""
    planes = [plane.counters()["lateness"] for plane in lab.planes().values()]
    return max(float(one["max_us"]) for lateness in planes for one in lateness.values())


def _counts(lab: Lab) -> dict[str, list[int]]:
    """Return how many sessions and silences each guard has counted."""
    guards = lab.guards()
    return {key: [guard[key] for guard in guards] for key in ("sessions", "silences")}


def _ping_ms(lab: Lab) -> list[float]:
    """Return the shortest and the longest of some round trips between the hosts."""
    said = lab.run(H4.name, ["ping", "-q", "-c", "5", "-i", "0.2", H8.address])
    shortest, _, longest, _ = said.rpartition("= ")[2].split("/")
    return [float(shortest), float(longest)]


def faults(lab: Lab) -> dict[str, Any]:
    """Let two guards in boxes of their own meet, lose each other in several ways, and meet again."""
    wire, prober = Wire(lab), Prober(lab)
    wait_for_guards(lab)
    lab.clear()
    return {
        "steady": _steady(lab, wire),
        "killed": _killed(lab, wire, prober),
        "started": _started(lab, wire),
        "cut": _cut(lab, wire),
        "outages": [_outage(lab, wire, hellos) for hellos in (9, 10)],
    }


def _steady(lab: Lab, wire: Wire) -> dict[str, Any]:
    time.sleep(0.5)
    heard = wire.heard()
    loop_us = [guard["loop_us"] for guard in lab.guards()]
    return {"heard": heard, "loop_us": loop_us, "ping_ms": _ping_ms(lab), "lateness_us": _lateness_us(lab)}


def _killed(lab: Lab, wire: Wire, prober: Prober) -> dict[str, Any]:
    """Kill the far guard while its host is sent a frame every 5 ms."""
    time.sleep(0.3)
    at_ns = _kill(lab, "sw6")
    probes = prober.send_until(at_ns + 520 * MS, every_ns=5 * MS)
    near = lab.plane("sw2").counters()["guards"]["guard"]
    return {"heard": wire.heard(), "probes": probes, "peer": near["peer"], "silences": near["silences"]}


def _started(lab: Lab, wire: Wire) -> dict[str, Any]:
    _start(lab, "sw6")
    return {"agreed_ns": _when_agreed(lab), "heard": wire.heard()}


def _cut(lab: Lab, wire: Wire) -> dict[str, Any]:
    """Take the far cable down for a second."""
    time.sleep(0.3)
    lab.run("wire", ["ip", "link", "set", "far", "down"])
    at_ns = time.monotonic_ns()
    time.sleep(1)
    gone = {"at_ns": at_ns, "heard": wire.heard(), "peers": [guard["peer"] for guard in lab.guards()]}
    lab.run("wire", ["ip", "link", "set", "far", "up"])
    return {"gone": gone, "agreed_ns": _when_agreed(lab), "heard": wire.heard()}


def _outage(lab: Lab, wire: Wire, hellos: int) -> dict[str, Any]:
    """Lose everything from between two hellos on, until so many of either guard are lost."""
    time.sleep(0.3)
    last = [frame for frame in wire.heard()["near"] if frame["kind"] == "hello"][-1]["at_ns"]
    before = _counts(lab)
    begin_ns = last + HELLO_INTERVAL_NS + 10 * MS
    sleep_until(begin_ns)
    lab.set_loss(forward="100%", reverse="100%")
    sleep_until(begin_ns + hellos * HELLO_INTERVAL_NS + 20 * MS)
    lab.set_loss(forward="none", reverse="none")
    _when_agreed(lab, step_ns=MS)
    time.sleep(0.1)
    return {"begin_ns": begin_ns, "heard": wire.heard(), "before": before, "after": _counts(lab)}


def succession(lab: Lab) -> dict[str, Any]:
    """Kill a guard and start it again at once."""
    wire = Wire(lab)
    wait_for_guards(lab)
    time.sleep(0.3)
    before, _ = wire.heard(), _kill(lab, "sw6")
    _start(lab, "sw6")
    return {"agreed_ns": _when_agreed(lab, step_ns=MS), "before": before, "heard": wire.heard()}


def ended(lab: Lab) -> dict[str, Any]:
    """Tell a guard to end that holds frames for a peer that was killed, and go on sending."""
    wire, prober = Wire(lab), Prober(lab)
    wait_for_guards(lab)
    time.sleep(0.3)
    at_ns = _kill(lab, "sw6")
    prober.send_until(at_ns + 10 * MS, every_ns=5 * MS)
    process = _process_of(lab, "sw2")
    process.signal(signal.SIGTERM)
    told_ns = time.monotonic_ns()
    prober.send_until(told_ns + 10 * MS, every_ns=5 * MS)
    while process.is_alive():
        time.sleep(MS / 1e9)
    return {"told_ns": told_ns, "ended_ns": time.monotonic_ns(), "heard": wire.heard()}


def floods(lab: Lab, protections: Iterable[str], frames: int) -> dict[str, Any]:
    """Protect a link that corrupts frames in several ways, one after the other, and load it."""
    ping_ms = _ping_ms(lab)
    lab.set_loss(forward="2%", reverse="0.1%")
    outcomes = []
    for protection in protections:
        lab.protect(protection)
        _when_agreed(lab, step_ns=MS)
        lab.clear()
        before = lab.link.counters()["directions"]["forward"]["frames_lost"]
        load = run_load(lab, frames=frames, frame_bytes=400, rate_bps=20_000_000, settle_ms=100)
        counters = lab.link.counters()
        outcomes.append(
            {
                "protection": protection,
                "tally": load["tally"],
                "lost": counters["directions"]["forward"]["frames_lost"] - before,
                "near": counters["guards"]["near"],
                "far": counters["guards"]["far"],
                "lateness_us": _lateness_us(lab),
            }
        )
    lab.protect("lg:copies=2")
    _when_agreed(lab, step_ns=MS)
    return {"ping_ms": ping_ms, "outcomes": outcomes, "flow": _flow(lab, octets=300_000)}


def _flow(lab: Lab, octets: int) -> dict[str, Any]:
    """Send bytes by TCP; return whether they came whole, the segments sent and those sent again."""
    _serve(lab)
    said = lab.run(H4.name, _flows("send", H8.address, "1", str(octets), "1"))
    names, numbers = (
        line.split()
        for line in lab.run(H4.name, ["cat", "/proc/net/snmp"]).splitlines()
        if line.startswith("Tcp:")
    )
    tcp = dict(zip(names, numbers, strict=True))
    return {"flows": said.split(), "sent": int(tcp["OutSegs"]), "sent_again": int(tcp["RetransSegs"])}


def hostile(lab: Lab, names: Iterable[str], flow_bytes: int) -> list[dict[str, Any]]:
    """Do to the guards what ``make hostile`` does, with a flow beside each fault."""
    module = importlib.import_module("hostile.__main__")
    victim = module.Victim(lab)
    known = victim.kills() | victim.faults()
    _serve(lab)
    wait_for_guards(lab)
    outcomes = []
    for name in names:
        flow = lab.start(H4.name, _flows("send", H8.address, "1", str(flow_bytes), "1"))
        time.sleep(0.1)
        known[name]()
        recovered = victim.recover()
        said, _ = flow.communicate()
        outcomes.append(
            {"fault": name, "recovered_seconds": recovered, "flows": said.split(), **_counts(lab)}
        )
    return outcomes


def _serve(lab: Lab) -> None:
    """Take flows at the far host from now on."""
    server = lab.start(H8.name, _flows("serve"))
    assert server.stdout is not None
    assert server.stdout.readline() == "up\n"


def _flows(*words: str) -> list[str]:
    return [sys.executable, str(Path(__file__).parents[1] / "hostile" / "flows.py"), *words]


def failing(lab: Lab) -> None:
    raise ValueError(f"a lab at {lab.settings.rate_bps} b/s, and no result")
