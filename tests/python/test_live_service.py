"""A guard as a service, live: what its manager hears, what it may do, and what its monitor reads."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from lossylink.linux.service.unit import unit_text

from .live_support import PATIENCE_SECONDS, needs_live_lab, until
from .private_boxes import Boxes, private_boxes

needs_live_lab()

#: Bits of capabilities(7).
_NET_ADMIN, _IPC_LOCK, _SYS_ADMIN = 1 << 12, 1 << 14, 1 << 21
#: Of ptrace(2): to stop one thread, and to let it go.
_SEIZE, _INTERRUPT, _DETACH, _ANY_THREAD = 0x4206, 0x4207, 17, 0x40000000
_FETCH = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=30).read().decode())"


@pytest.fixture
def boxes() -> Iterator[Boxes]:
    """One box between a LAN and a trunk."""
    with private_boxes() as found:
        found.cable("host/eth0", "box/lan")
        found.cable("box/trunk", "far/trunk")
        yield found


class _Manager:
    """What a service manager is to a process: a socket that takes its messages."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.settimeout(0)
        self.heard: list[str] = []

    def close(self) -> None:
        self._socket.close()

    def listen(self) -> list[str]:
        """Return everything that has been said so far."""
        while True:
            try:
                self.heard.append(self._socket.recv(4096).decode())
            except BlockingIOError:
                return self.heard

    def wait_for(self, beginning: str, times: int = 1) -> None:
        def has_come() -> bool:
            return sum(message.startswith(beginning) for message in self.listen()) >= times

        until(has_come, seconds=PATIENCE_SECONDS, what=f"{times} of {beginning}")


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Manager]:
    """A manager of the processes that the test starts, which wants a sign of life each second."""
    address = str(tmp_path / "manager")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("WATCHDOG_USEC", "1000000")
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    with closing(_Manager(address)) as found:
        yield found


def _end(guard: subprocess.Popen[str]) -> None:
    guard.send_signal(signal.SIGTERM)
    _, errors = guard.communicate(timeout=PATIENCE_SECONDS)
    assert guard.returncode == 0, errors


def test_a_manager_hears_that_a_guard_is_ready_and_lives_and_ends(boxes: Boxes, manager: _Manager) -> None:
    words = boxes.lossylink("guard", "--lan", "lan", "--link", "trunk", "--control", "/run/box.sock")
    guard = boxes.start("box", words)
    manager.wait_for("READY=1")
    assert boxes.counters("box")["kind"] == "guard"
    manager.wait_for("WATCHDOG=1", times=3)
    manager.wait_for("STATUS=protects by lg; looks for a guard at the far end")
    _end(guard)
    manager.wait_for("STOPPING=1")
    kinds = [message.partition("=")[0] for message in manager.heard]
    assert kinds.index("READY") < kinds.index("WATCHDOG")
    assert kinds.count("READY") == kinds.count("STOPPING") == 1


def test_a_guard_without_a_manager_that_listens_guards(boxes: Boxes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "/run/nobody")
    guard = boxes.guard("box", lan="lan", link="trunk")
    assert boxes.counters("box")["kind"] == "guard"
    _end(guard)


@contextmanager
def _halted(thread: int) -> Iterator[None]:
    """Stop one thread of a process, and no other."""
    libc = ctypes.CDLL(None, use_errno=True)
    none = ctypes.c_void_p()
    for request in (_SEIZE, _INTERRUPT):
        if libc.ptrace(request, thread, none, none):
            pytest.skip(f"ptrace refused: {os.strerror(ctypes.get_errno())}")
    os.waitpid(thread, _ANY_THREAD)
    try:
        yield
    finally:
        libc.ptrace(_DETACH, thread, none, none)


def test_a_loop_that_hangs_gives_no_sign_of_life(boxes: Boxes, manager: _Manager) -> None:
    guard = boxes.guard("box", lan="lan", link="trunk")
    manager.wait_for("WATCHDOG=1")
    # The loop is the first thread. The one that gives the signs goes on.
    with _halted(guard.pid):
        # The control socket waits five seconds for the loop: what was on its way before has come by then.
        assert "does not answer" in boxes.counters("box")["error"]
        manager.listen()
        manager.heard.clear()
        assert "does not answer" in boxes.counters("box")["error"]
        assert manager.listen() == []
    manager.wait_for("WATCHDOG=1", times=2)
    _end(guard)


def _rights(guard: subprocess.Popen[str]) -> dict[int, dict[str, int]]:
    """Return the sets of capabilities of each thread, and whether it can gain others."""
    found = {}
    for task in Path(f"/proc/{guard.pid}/task").iterdir():
        # A thread that answers a command may end meanwhile.
        with suppress(FileNotFoundError, ProcessLookupError):
            status = (task / "status").read_text()
            fields = re.findall(r"^(Cap\w+|NoNewPrivs):\s*(\w+)$", status, re.MULTILINE)
            found[int(task.name)] = {name: int(value, 16) for name, value in fields}
    return found


@pytest.mark.parametrize(("lan", "of_the_loop"), [("lan", 0), ("packet:lan@box", _SYS_ADMIN)])
def test_a_guard_keeps_the_rights_that_it_needs_to_end(boxes: Boxes, lan: str, of_the_loop: int) -> None:
    before = [boxes.state("box", name) for name in ("lan", "trunk")]
    guard = boxes.guard("box", "--metrics", "127.0.0.1:0", lan=lan, link="trunk")
    boxes.counters("box")  # an answer comes from the loop, which begins after it has given up the rest
    rights = _rights(guard)
    assert len(rights) >= 3
    for thread, sets in rights.items():
        kept = _IPC_LOCK | (_NET_ADMIN | of_the_loop if thread == guard.pid else 0)
        for name in ("CapPrm", "CapEff", "CapInh", "CapAmb", "CapBnd"):
            assert sets[name] == kept, f"{name} of thread {thread}: {sets[name]:x}"
        assert sets["NoNewPrivs"] == 1
    assert boxes.state("box", "trunk") != before[1]
    _end(guard)
    assert [boxes.state("box", name) for name in ("lan", "trunk")] == before
    assert boxes.enclave.run(["ls", "/run/lossylink"]) == ""


def test_a_guard_needs_no_more_than_its_unit_grants(boxes: Boxes) -> None:
    unit = dict(line.partition("=")[::2] for line in unit_text().splitlines() if "=" in line)
    granted = ",".join(
        f"+{name.removeprefix('CAP_').lower()}" for name in unit["CapabilityBoundingSet"].split()
    )
    assert unit["LimitMEMLOCK"] == "infinity"
    limits = ["prlimit", f"--rtprio={unit['LimitRTPRIO']}", "--memlock=unlimited"]
    # Who may not raise limits, such as root in a container, tries the capabilities alone.
    raised = subprocess.run([*limits, "true"], capture_output=True, check=False).returncode == 0
    within = [*(limits if raised else []), "setpriv", "--no-new-privs", f"--bounding-set=-all,{granted}"]
    before = [boxes.state("box", name) for name in ("lan", "trunk")]
    words = boxes.lossylink("guard", "--lan", "lan", "--link", "trunk", "--control", "/run/box.sock")
    guard = boxes.start("box", [*within, *words])

    def is_there() -> bool:
        assert guard.poll() is None, guard.communicate()
        return "box.sock" in boxes.enclave.run(["ls", "/run"]).split()

    until(is_there, seconds=PATIENCE_SECONDS, what="the control socket")
    scheduling = boxes.counters("box")["scheduling"]
    # The limit on locked memory takes the place of the right to go beyond it.
    assert {sets["CapPrm"] for sets in _rights(guard).values()} == {_NET_ADMIN, 0}
    locked = re.search(r"^VmLck:\s*(\d+) kB$", Path(f"/proc/{guard.pid}/status").read_text(), re.MULTILINE)
    assert locked is not None
    if raised:
        assert (scheduling, int(locked[1]) > 0) == ("fifo", True)
    _end(guard)
    assert [boxes.state("box", name) for name in ("lan", "trunk")] == before
    killed = boxes.guard("box", lan="lan", link="trunk")
    killed.kill()
    killed.communicate()
    assert boxes.state("box", "trunk") != before[1]
    boxes.run("box", [*within, *boxes.lossylink("restore")])
    assert [boxes.state("box", name) for name in ("lan", "trunk")] == before


def test_metrics_are_served_over_tcp(boxes: Boxes) -> None:
    boxes.run("box", ["ip", "link", "set", "lo", "up"])
    guard = boxes.guard("box", "--metrics", "0", lan="lan", link="trunk")
    assert guard.stderr is not None
    url = next(line.split()[1] for line in guard.stderr if line.startswith("metrics: "))
    assert url.startswith("http://127.0.0.1:")
    text = boxes.run("box", [sys.executable, "-c", _FETCH, url])
    assert re.search(r'^lossylink_guards_from_lan_total\{at="guard"\} \d+$', text, re.MULTILINE)
    assert "# HELP lossylink_guards_sessions_total " in text
    _end(guard)


def _routed_guard(boxes: Boxes) -> subprocess.Popen[str]:
    """Start a guard over a path to nobody: it counts all the same."""
    boxes.run("other", ["sh", "-c", "umask 077; head -c 32 /dev/urandom | base64 > /run/key"])
    boxes.run("other", ["ip", "link", "set", "lo", "up"])
    return boxes.routed("other", "--tun", "over0", "--udp", "127.0.0.1:5000", "--key-file", "/run/key")


def test_a_dashboard_shows_what_guards_report(boxes: Boxes) -> None:
    boxes.cable("far/lan", "other/eth0")
    guards = [boxes.guard(box, lan="lan", link="trunk") for box in ("box", "far")]
    status = boxes.lossylink("guard", "status", "--prometheus", "--control", "/run/box.sock")
    until(
        lambda: bool(boxes.counters("box")["guards"]["guard"]["agreed"]),
        seconds=PATIENCE_SECONDS,
        what="agreement",
    )
    texts = [boxes.run("box", status)]
    for protection in ("fec:25/5", "llr"):
        boxes.run("box", boxes.lossylink("guard", "set", protection, "--control", "/run/box.sock"))
        texts.append(boxes.run("box", status))
    guards += [_routed_guard(boxes)]
    status = boxes.lossylink("guard", "status", "--prometheus", "--control", "/run/other.sock")
    texts.append(boxes.run("other", status))
    reported = set(re.findall(r"^(lossylink_\w+)\{", "".join(texts), re.MULTILINE))
    shown = set(re.findall(r"lossylink_\w+", boxes.run("box", boxes.lossylink("guard", "dashboard"))))
    assert {"lossylink_guards_agreed", "lossylink_guards_loop_seconds"} <= shown
    assert shown - reported == set()
    for guard in guards:
        _end(guard)


def test_a_file_runs_a_guard(boxes: Boxes, tmp_path: Path) -> None:
    file = tmp_path / "guard.toml"
    file.write_text('[here]\nlan = "lan"\nlink = "trunk"\nprotection = "fec:25/5"\nfifo = false\n')
    guard = boxes.start("box", boxes.lossylink("guard", "--config", str(file), "--name", "here"))
    ask = boxes.lossylink("guard", "status", "--json", "--control", "/run/lossylink/guard-here.sock")

    def is_there() -> bool:
        assert guard.poll() is None, guard.communicate()
        return "guard-here.sock" in boxes.enclave.run(["ls", "/run/lossylink"], check=False).split()

    until(is_there, seconds=PATIENCE_SECONDS, what="the control socket")
    assert json.loads(boxes.run("box", ask))["guards"]["guard"]["protection"] == "fec:25/5"
    _end(guard)
