"""Does to a guarded link what may happen to it, fault by fault: ``python -m tests.hostile``.

Three processes in namespaces of their own: guard, wire, guard. With ``--key`` the guards share a secret, with
``--routed`` they send each other datagrams. During each fault a TCP flow goes on, whose hash is compared.
After each fault both guards must agree, and a ping must pass, within two seconds. Guards are killed in the
first round alone: from then on they may gain no descriptors, and memory only now and then: a pool keeps the
room of its fullest moment. At the end nothing may be left on the machine. The program prints a line for each
fault, and ends with 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import itertools
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lossylink.linux.lab import Lab, LabSettings
from lossylink.linux.lab.hosts import H8
from lossylink.linux.lab.plane import start_plane
from lossylink.linux.lab.process import Process
from lossylink.running.backends.live.stress import run_load

_HERE = Path(__file__).parent
_NAME = "hostile"
_PROTECTION = "lg:copies=3,control_copies=3"
#: How soon after a fault all must be well.
_RECOVERY_SECONDS = 2.0
_PATIENCE_SECONDS = 60.0
_FLOW_BYTES = 60_000_000
#: What a process may grow by without being called a leak: its allocator's arenas.
_GROWTH_BYTES = 4_000_000
#: Where the guards of a routed path are, and their port.
_ADDRESSES = {"sw2": "192.0.2.1", "sw6": "192.0.2.2"}
_PORT = 5000


class Victim:
    """The lab, and what is done to it."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.seed = 0

    def guards(self) -> list[Process]:
        """Return the processes of both guards."""
        found = []
        for box in ("sw2", "sw6"):
            socket = str(self.lab.directory.control(box)).encode()
            processes = self.lab.enclave.processes(self.lab.directory.prefix + box)
            found += [one for one in processes if socket in Path(f"/proc/{one.pid}/cmdline").read_bytes()]
        return found

    def inject(self, kind: str) -> None:
        """Put frames on both cables."""
        for interface in ("near", "far"):
            self.seed += 1
            script = [sys.executable, str(_HERE / "inject.py"), kind, interface, str(self.seed)]
            self.lab.run("wire", script, seconds=_PATIENCE_SECONDS)

    def flap(self, cable: str, box: str) -> None:
        """Take one end of a cable down for half a second, three times."""
        for _ in range(3):
            self.lab.run(box, ["ip", "link", "set", cable, "down"])
            time.sleep(0.5)
            self.lab.run(box, ["ip", "link", "set", cable, "up"])
            time.sleep(0.2)

    def stop(self, guard: int) -> None:
        """Keep a guard from running for a second."""
        process = self.guards()[guard]
        process.signal(signal.SIGSTOP)
        time.sleep(1)
        process.signal(signal.SIGCONT)

    def kill(self, guard: int) -> None:
        """Kill a guard, and start it again a second later."""
        box = ("sw2", "sw6")[guard]
        config = self.config(box)
        self.end(self.guards()[guard])
        time.sleep(1)
        self.start(box, config)

    def config(self, box: str) -> dict[str, Any]:
        """Return what the guard in a box was told."""
        config: dict[str, Any] = json.loads(Path(f"{self.lab.directory.control(box)}.json").read_text())
        return config

    def end(self, process: Process) -> None:
        """Kill a process and wait until it is gone."""
        process.signal(signal.SIGKILL)
        while process.is_alive():
            time.sleep(0.01)

    def start(self, box: str, config: dict[str, Any]) -> None:
        """Start a guard in a box."""
        start_plane(self.lab.enclave, self.lab.directory.prefix + box, config, self.lab.directory.log(box))

    def route(self) -> None:
        """Put guards that send datagrams in the place of those of the cable."""
        for guard in self.guards():
            self.end(guard)
        for box, other in (("sw2", "sw6"), ("sw6", "sw2")):
            self.lab.run(box, ["ip", "link", "set", "trunk", "mtu", "1500"])
            self.lab.run(box, ["ip", "address", "add", f"{_ADDRESSES[box]}/24", "dev", "trunk"])
            config = self.config(box)
            config["role"]["guard"] |= {
                "link": f"udp:{_ADDRESSES[other]}:{_PORT}",
                "protection": {"family": "routed"},
            }
            self.start(box, config)

    def lose(self, spelling: str, seconds: float) -> None:
        """Lose frames in both directions for a while."""
        self.lab.set_loss(forward=spelling, reverse=spelling)
        time.sleep(seconds)
        self.lab.set_loss(forward="1%", reverse="1%")

    def flood(self) -> None:
        """Send frames of 64 octets as fast as a load does."""
        run_load(self.lab, frames=200_000, frame_bytes=64, rate_bps=400_000_000)

    def crowd(self) -> None:
        """A thousand flows at once."""
        self.send(flows=1000, size=10_000)

    def send(self, flows: int, size: int) -> None:
        """Send flows and wait for them.

        Raises
        ------
        AssertionError
            A flow did not arrive whole.
        """
        self.seed += 1
        script = [sys.executable, str(_HERE / "flows.py"), "send", H8.address]
        said = self.lab.run("h4", [*script, str(flows), str(size), str(self.seed)], seconds=_PATIENCE_SECONDS)
        whole, altered = map(int, said.split())
        assert (whole, altered) == (flows, 0), f"{whole} flows arrived whole, {altered} did not"

    def faults(self) -> dict[str, Callable[[], None]]:
        """Return what may happen, by its name."""
        return {
            "garbage from both sides": lambda: self.inject("garbage"),
            "recorded frames again, shuffled": lambda: self.inject("replay"),
            "recorded frames, altered": lambda: self.inject("alter"),
            "the near cable flaps": lambda: self.flap("trunk", "sw2"),
            "the far cable flaps": lambda: self.flap("far", "wire"),
            "the near guard is stopped for 1 s": lambda: self.stop(0),
            "the far guard is stopped for 1 s": lambda: self.stop(1),
            "half of all frames are lost for 3 s": lambda: self.lose("50%", 3),
            "all frames are lost for 3 s": lambda: self.lose("100%", 3),
            "bursts of 50 frames for 3 s": lambda: self.lose("gilbert-elliott:mean=5%,burst=50", 3),
            "a flood of 64-octet frames": self.flood,
            "a thousand flows": self.crowd,
        }

    def kills(self) -> dict[str, Callable[[], None]]:
        """Return what ends a guard, by its name."""
        return {
            "the near guard is killed": lambda: self.kill(0),
            "the far guard is killed": lambda: self.kill(1),
        }

    def is_well(self) -> bool:
        """Whether both guards agree and a ping passes."""
        if any(guard["peer"] != "agreed" for guard in self.lab.guards()):
            return False
        ping = self.lab.command("h4", ["ping", "-q", "-c", "1", "-W", "0.2", H8.address])
        return subprocess.run(ping, capture_output=True, check=False).returncode == 0

    def recover(self) -> float:
        """Wait until all is well; return how long it took, in seconds."""
        started = time.monotonic()
        while not self.is_well():
            if time.monotonic() - started > _PATIENCE_SECONDS:
                raise AssertionError(f"not well after {_PATIENCE_SECONDS:g} s")
            time.sleep(0.02)
        return time.monotonic() - started

    def size(self) -> list[tuple[int, int]]:
        """Return the descriptors and the resident bytes of each guard."""
        sizes = []
        for process in self.guards():
            folder = Path(f"/proc/{process.pid}")
            resident = int((folder / "statm").read_text().split()[1]) * 4096
            sizes.append((len(list((folder / "fd").iterdir())), resident))
        return sizes


@contextmanager
def _served(lab: Lab) -> Iterator[None]:
    server = lab.start("h8", [sys.executable, str(_HERE / "flows.py"), "serve"])
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "up\n"
        yield
    finally:
        server.terminate()
        server.communicate()


def _machine() -> tuple[str, ...]:
    """Return what a lab must leave as it was."""
    shown = (["ip", "netns", "list"], ["ip", "-br", "link"])
    return tuple(subprocess.run(words, capture_output=True, text=True, check=True).stdout for words in shown)


def _suffer(victim: Victim, name: str, fault: Callable[[], None]) -> list[str]:
    """Let one fault happen while a flow goes on; return what was wrong."""
    script = [sys.executable, str(_HERE / "flows.py"), "send", H8.address, "1", str(_FLOW_BYTES), "1"]
    flow = victim.lab.start("h4", script)
    fault()
    seconds = victim.recover()
    out, problem = flow.communicate(timeout=_PATIENCE_SECONDS)
    wrong = []
    if seconds > _RECOVERY_SECONDS:
        wrong.append(f"{name}: well again after {seconds:.1f} s")
    if out.split() != ["1", "0"]:
        wrong.append(f"{name}: the flow beside it: {(out or problem).strip().splitlines()[-1]}")
    print(f"{name}: well again after {seconds:.2f} s" + (f"; WRONG: {wrong}" if wrong else ""), flush=True)
    return wrong


def _attack(settings: dict[str, Any], rounds: int, *, is_routed: bool) -> list[str]:
    wrong: list[str] = []
    with Lab.up(LabSettings(split=True, loss_forward="1%", loss_reverse="1%", **settings), name=_NAME) as lab:
        victim = Victim(lab)
        if is_routed:
            victim.route()
        with _served(lab):
            victim.recover()
            victim.send(flows=1, size=_FLOW_BYTES)
            sizes = []
            for turn in range(rounds):
                kills = victim.kills() if turn == 0 else {}
                for name, fault in (kills | victim.faults()).items():
                    wrong += _suffer(victim, name, fault)
                sizes.append(victim.size())
                print(
                    f"round {turn + 1}: descriptors and resident bytes of each guard {sizes[-1]}", flush=True
                )
        for guard in zip(*sizes, strict=True):
            descriptors, resident = zip(*guard, strict=True)
            if descriptors[-1] > descriptors[0]:
                wrong.append(f"{descriptors[0]} descriptors became {descriptors[-1]}")
            growth = [after - before for before, after in itertools.pairwise(resident)]
            if len(growth) > 1 and min(growth) > _GROWTH_BYTES:
                wrong.append(f"each round takes more memory: {', '.join(map(str, resident))} bytes")
        near, far = lab.guards()
        for guard in (near, far):
            kinds = ("sessions", "silences", "stuck", "stood_aside", "foreign", "other_seal", "repeated")
            print("guard: " + ", ".join(f"{kind} {guard[kind]}" for kind in kinds))
    return wrong


def main() -> int:
    """Run the faults; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument(
        "-p", "--protection", default="lg:copies=3,control_copies=3", help="of both directions"
    )
    parser.add_argument("--key", action="store_true", help="the guards share a secret")
    parser.add_argument(
        "--routed", action="store_true", help="a path of datagrams in place of a cable; with a key"
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often each fault happens")
    options = parser.parse_args()
    before = _machine()
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = {"protection": options.protection}
        if options.key or options.routed:
            settings["key_file"] = Path(folder) / "link.key"
            settings["key_file"].write_text("a secret that nobody else knows\n")
            settings["key_file"].chmod(0o600)
        wrong = _attack(settings, options.rounds, is_routed=options.routed)
    if _machine() != before:
        wrong.append("something was left on the machine")
    print(*(wrong or ["nothing was wrong"]), sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
