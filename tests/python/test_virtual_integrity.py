"""Bytes under loss in a guest: what arrives is what was sent, and a guest that dies says why."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from lossylink.declared.protections import parse_protection
from lossylink.errors import RunError
from lossylink.linux.guest import Guest, Plan
from lossylink.linux.guest.session import run_session
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve

from .kernel_support import needed_kernel

KERNEL = needed_kernel()
_SENDER = """
import hashlib, random, socket
data = random.Random(1).randbytes(40_000_000)
connection = socket.create_connection(("h8", 5001))
connection.sendall(data)
print("sent", hashlib.sha256(data).hexdigest())
"""
_TAKER = """
import hashlib, socket
connection, _ = socket.create_server(("10.2.2.2", 5001)).accept()
digest = hashlib.sha256()
while piece := connection.recv(1 << 20):
    digest.update(piece)
print("came", digest.hexdigest())
"""


def said(protection: str, script: str, folder: Path) -> list[str]:
    """Run a script between hosts that merge what arrives, and return its lines."""
    settings = {"host.profile": "ae-hosts", "link.rate": "25Gbps", "loss.forward": "1e-2"}
    settings |= {"transport.congestion_control": "dctcp"}
    config = configuration(resolve("throughput", settings=settings), parse_protection(protection))
    for name, text in (("sender.py", _SENDER), ("taker.py", _TAKER), ("both.sh", script)):
        (folder / name).write_text(text)
    with (folder / "said").open("w") as output:
        finished = run_session(KERNEL, config, ["sh", "both.sh"], here=folder, to=output)
    assert finished.status == 0
    assert finished.report["frames_lost"] > 0
    return (folder / "said").read_text().splitlines()


@pytest.mark.parametrize("protection", ["none", "lg-nb", "lg:backpressure=off"])
def test_what_arrives_is_what_was_sent(protection: str, tmp_path: Path) -> None:
    """A host that merges frames must not write into what the sender may have to send again."""
    python = f"{shlex.quote(sys.executable)} -S -E"
    script = f"h8 {python} taker.py & sleep 1; h4 {python} sender.py; wait\n"
    lines = dict(line.split() for line in said(protection, script, tmp_path))
    assert lines.keys() == {"sent", "came"}
    assert lines["sent"] == lines["came"]


def test_a_kernel_that_gives_up_says_why() -> None:
    """It is told to do so when its memory is full, and then to keep more free than it has."""
    script = "cd /proc/sys/vm; echo 1 > panic_on_oom; echo 100000 > min_free_kbytes; ls"
    config = configuration(
        resolve("throughput", settings={"host.profile": "ideal"}), parse_protection("none")
    )
    plan = Plan(script=script, path=config, memory_bytes=64 * 2**20)
    with (
        Guest(KERNEL, plan) as guest,
        pytest.raises(RunError, match="the guest died: Kernel panic .* memory"),
    ):
        guest.run(on_output=lambda _: None)
