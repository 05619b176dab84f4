"""Captures of an interface: mistakes are one line, and end before the capture is said to have begun."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from lossylink.linux.lab.sniffer import sniffer_command

from .live_support import PATIENCE_SECONDS, needs_live_lab

needs_live_lab()


@pytest.mark.parametrize(
    ("interface", "file", "expression", "says"),
    [
        ("nope", "x.pcap", "", "cannot capture nope: "),
        ("lo", "x.pcap", "tcp prt 5", "the capture failed: can't parse filter expression"),
        ("lo", "missing/x.pcap", "", "the capture failed: missing/x.pcap"),
        ("lo", "/dev/full", "", "the capture cannot be written; is the disk full?"),
    ],
)
def test_a_mistake_is_one_line(interface: str, file: str, expression: str, says: str, tmp_path: Path) -> None:
    command = shlex.join(sniffer_command(interface, file, expression=expression))
    private = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    ended = subprocess.run(
        ["unshare", *private, "--net", "sh", "-c", f"ip link set lo up; exec {command}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: {says}")
    assert ended.stderr.count("\n") == 1
