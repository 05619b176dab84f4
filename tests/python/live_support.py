"""What the live tests share: whether this machine can run them, and labs that never outlive a test."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lossylink.linux.lab import Lab, LabSettings
from lossylink.running.backends.live.stress import run_load

_TOOLS = ("ip", "nsenter", "unshare", "ethtool", "ping", "iperf3", "tcpdump", "ss")


def obstacle() -> str | None:
    """Return what keeps live tests from running here, in words; nothing when they can run."""
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        return f"missing tools: {', '.join(missing)}"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "/dev/net/tun is missing or not accessible"
    flags = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    if subprocess.run(["unshare", *flags, "--net", "true"], capture_output=True, check=False).returncode:
        return "network namespaces are refused: run as root, or allow user namespaces"
    return None


def needs_live_lab() -> None:
    """Skip the module where it cannot run; in CI that is a failure."""
    reason = obstacle()
    if reason is None:
        return
    if os.environ.get("CI"):
        raise RuntimeError(f"CI must run the live tests, but {reason}")
    pytest.skip(f"live lab: {reason}", allow_module_level=True)


def is_privileged() -> bool:
    """Whether this is root of the machine: a user's namespace lets nobody set groups or force buffers."""
    groups = Path("/proc/self/setgroups")
    return os.geteuid() == 0 and not (groups.is_file() and groups.read_text().strip() == "deny")


def needs_tcpdump() -> None:
    """Skip the test where tcpdump does not start: it sets the groups of its process."""
    if not is_privileged():
        pytest.skip("tcpdump starts for root only")


#: How long to wait for what must happen at all: a loaded machine may take its time.
PATIENCE_SECONDS = 30.0


#: Names of this session's labs begin so.
_SESSION = f"t{os.getpid() % 10**6}x"


def lab_name() -> str:
    """Return a name for a lab that no other has."""
    return f"{_SESSION}{uuid.uuid4().hex[:4]}"


def is_foreign(namespace: str) -> bool:
    """Whether a network namespace is of a lab that another session on this machine has made."""
    others = namespace.startswith(("lossylink-run", "lossylink-t"))
    return others and not namespace.startswith(
        (f"lossylink-{_SESSION}", f"lossylink-run{os.getpid() % 10**6:x}")
    )


@contextmanager
def lab(**settings: Any) -> Iterator[Lab]:
    """Yield a lab of a name of its own."""
    with Lab.up(LabSettings(**settings), name=lab_name(), owned=True) as up:
        yield up


def until(condition: Callable[[], bool], *, seconds: float, what: str) -> float:
    """Wait until a condition holds and return how long it took; fail when it does not come."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, f"{what} did not happen within {seconds} s"
        time.sleep(0.01)
    return time.monotonic() - started


@dataclass(frozen=True)
class Sessions:
    """How often two guards have begun a session, and how often each found the other silent."""

    begun: tuple[int, int]
    silences: tuple[int, int]

    def most_since(self, before: Sessions, *, strangers: int) -> bool:
        """Whether no session has begun since without a reason.

        A silence costs four: the guard that hears nothing starts over, both start over when they meet, and
        one of them once more if it was in no session and proposed a lower one (G-8, G-21). Besides, each of
        ``strangers`` may begin one, because it has not met the other's present identity yet. A guard that
        stalls is silent, and is counted.
        """
        begun = sum(self.begun) - sum(before.begun)
        silences = sum(self.silences) - sum(before.silences)
        return begun <= strangers + 4 * silences


def sessions(up: Lab) -> Sessions:
    """Return the sessions of both guards so far."""
    near, far = up.guards()
    return Sessions((near["sessions"], far["sessions"]), (near["silences"], far["silences"]))


def dropped(up: Lab) -> int:
    """Return what ports and queues of a lab have dropped so far, by their own count."""
    planes = [plane.counters() for plane in up.planes().values()]
    ports = [port for plane in planes for port in plane["ports"].values()]
    guards = [guard for plane in planes for guard in plane["guards"].values()]
    at_ports = sum(int(port["missed"] + port["send_refused"]) for port in ports)
    return at_ports + sum(int(guard["queue_dropped"] + guard["no_room"]) for guard in guards)


def run_counted(up: Lab, **load: int) -> tuple[dict[str, int], int]:
    """Send numbered frames from h4 to h8; return their account and what was dropped."""
    before = dropped(up)
    outcome = run_load(up, **load)
    source, sink = (outcome["ports"][end] for end in ("source", "sink"))
    return outcome["tally"], dropped(up) - before + source["send_refused"] + sink["missed"]


def agreed(up: Lab) -> bool:
    """Whether both guards know each other."""
    return all(guard.get("peer") == "agreed" for guard in up.guards())
