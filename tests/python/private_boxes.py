"""Boxes and cables of a test's own: network namespaces that vanish with the test, and a /run of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lossylink.linux.lab.enclave import Enclave

from .live_support import PATIENCE_SECONDS, until

#: Waits to be ended; what it holds vanishes with it.
_KEEPER = "mount -t tmpfs tmpfs /run && echo up && exec sleep infinity"


@dataclass
class Boxes:
    """A place for namespaces, and the processes that were started in it."""

    enclave: Enclave
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def cable(self, near: str, far: str) -> None:
        """Join two interfaces, written ``BOX/NAME``, and set both up; boxes that are missing are made."""
        (near_box, near_name), (far_box, far_name) = (end.split("/") for end in (near, far))
        there = self.enclave.namespaces("")
        for box in {near_box, far_box} - set(there):
            self.enclave.ip(f"netns add {box}")
        self.enclave.ip(
            f"link add name {near_name} netns {near_box} type veth peer name {far_name} netns {far_box}"
        )
        for box, name in ((near_box, near_name), (far_box, far_name)):
            # A host that talks by itself would be one more thing to count.
            self.run(box, ["sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6"])
            self.run(box, ["ip", "link", "set", name, "up"])

    def between_hosts(self, *, wire: bool = False) -> None:
        """Join 10.9.0.1 and 10.9.0.2 by two boxes: h1, b1, b2, h2, and m for a wire between b1 and b2."""
        self.cable("h1/eth0", "b1/lan")
        if wire:
            self.cable("b1/trunk", "m/near")
            self.cable("m/far", "b2/trunk")
        else:
            self.cable("b1/trunk", "b2/trunk")
        self.cable("b2/lan", "h2/eth0")
        for host, address in (("h1", "10.9.0.1/24"), ("h2", "10.9.0.2/24")):
            self.run(host, ["ip", "address", "add", address, "dev", "eth0"])

    def run(self, box: str, command: Sequence[str]) -> str:
        """Run a command in a box and return what it printed."""
        return self.enclave.run(["ip", "netns", "exec", box, *command])

    def start(self, box: str, command: Sequence[str]) -> subprocess.Popen[str]:
        """Start a command in a box; it is ended with the boxes."""
        pipe = subprocess.PIPE
        words = self.enclave.inside(box, command)
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)
        self.started.append(process)
        return process

    def lossylink(self, *words: str) -> list[str]:
        """Return the command line of a lossylink command."""
        return [sys.executable, "-m", "lossylink", *words]

    def guard(self, box: str, *options: str, lan: str, link: str) -> subprocess.Popen[str]:
        """Start a guard in a box and wait until its ports are open."""
        return self._serve(box, ["guard", "--lan", lan, "--link", link, *options])

    def routed(self, box: str, *options: str) -> subprocess.Popen[str]:
        """Start a guard over a path in a box and wait until its ports are open."""
        return self._serve(box, ["guard", *options])

    def wire(self, box: str, *options: str, near: str, far: str) -> subprocess.Popen[str]:
        """Start a wire in a box and wait until its ports are open."""
        return self._serve(box, ["wire", "--near", near, "--far", far, *options])

    def _serve(self, box: str, words: Sequence[str]) -> subprocess.Popen[str]:
        control = f"/run/{box}.sock"
        self.run(box, ["rm", "-f", control])
        process = self.start(box, self.lossylink(*words, "--no-fifo", "--control", control))
        until(
            lambda: process.poll() is not None or self._is_there(control),
            seconds=PATIENCE_SECONDS,
            what=f"the start of a {words[0]}",
        )
        assert process.poll() is None, process.communicate()
        return process

    def counters(self, box: str) -> dict[str, Any]:
        """Return what the guard of a box has counted."""
        ask = (
            "import socket, sys; link = socket.socket(socket.AF_UNIX); link.connect(sys.argv[1]);"
            """link.sendall(b'{"command": "counters"}\\n'); print(link.makefile().readline())"""
        )
        counters: dict[str, Any] = json.loads(self.run(box, [sys.executable, "-c", ask, f"/run/{box}.sock"]))
        return counters

    def settled(self, box: str, port: str, key: str, *, least: int) -> dict[str, int]:
        """Return the counters of a port once one of them has come this far and rests."""

        def read() -> dict[str, int]:
            counters: dict[str, int] = self.counters(box)["ports"][port]
            return counters

        until(lambda: read()[key] >= least, seconds=PATIENCE_SECONDS, what=f"{key} of {least}")
        last, now = dict[str, int](), read()
        while last != now:
            time.sleep(0.2)
            last, now = now, read()
        return now

    def state(self, box: str, name: str) -> tuple[int, str]:
        """Return the MTU of an interface and everything that ethtool says of its offloads."""
        mtu = json.loads(self.run(box, ["ip", "-j", "link", "show", "dev", name]))[0]["mtu"]
        return mtu, self.run(box, ["ethtool", "-k", name])

    def _is_there(self, path: str) -> bool:
        found = subprocess.run([*self.enclave.prefix, "test", "-S", path], check=False)
        return found.returncode == 0


@contextmanager
def private_boxes() -> Iterator[Boxes]:
    """Yield a place for namespaces; root stays root in it, for others it is a user namespace."""
    user = [] if os.geteuid() == 0 else ["--user"]
    mapped = ["--map-root-user"] if user else []
    keeper = subprocess.Popen(
        ["unshare", *user, *mapped, "--mount", "--net", "sh", "-c", _KEEPER],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert keeper.stdout is not None
    try:
        assert keeper.stdout.readline() == "up\n"
        preserved = ["--preserve-credentials"] if user else []
        entering = ("nsenter", f"--target={keeper.pid}", *user, "--mount", "--net", *preserved, "--")
        boxes = Boxes(Enclave(entering))
        boxes.enclave.run(["mkdir", "-p", "/run/netns"])
        try:
            yield boxes
        finally:
            for process in boxes.started:
                process.kill()
                process.communicate()
    finally:
        keeper.kill()
        keeper.communicate()
