"""``lossylink virtual`` while it runs and when it is stopped: how far it is, which way, and what there is."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lossylink.cli.exits import INTERRUPTED

from .kernel_support import needed_kernel

KERNEL = needed_kernel()


def start(*words: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-u", "-m", "lossylink", "virtual", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, text=True, stdout=pipe, stderr=pipe)


def test_the_summary_has_both_directions(tmp_path: Path) -> None:
    words = ("--loss", "1e-3", "--loss-reverse", "at:0", "-p", "none", "--", "h4", "ping", "-c", "2", "h8")
    with start(*words, folder=tmp_path) as process:
        _, told = process.communicate(timeout=120)
    (line,) = told.splitlines()
    assert "h4 to h8 (loss 0.001 = 0.1 %): 2 frames over the link, 0 corrupted, 0 lost for good" in line
    assert "h8 to h4 (loss at:0): 2 frames, 1 corrupted" in line


def test_ctrl_c_says_how_far_it_is_and_keeps_what_had_ended(tmp_path: Path) -> None:
    # The second run finds the file of the first, and has work for longer than any test.
    script = "if [ -e ended ]; then h4 ping -qi 0.001 -c 10000000 h8; else touch ended; fi"
    with start("-p", "none", "-p", "lg", "--json", "--", "sh", "-c", script, folder=tmp_path) as process:
        assert process.stderr is not None
        heads = iter(process.stderr.readline, "")
        assert any(line == "== lg\n" for line in heads)
        time.sleep(8)
        process.send_signal(signal.SIGINT)
        out, told = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert [row["protection"] for row in json.loads(out)] == ["none"]
    last = told.splitlines()[-1]
    assert last.startswith("interrupted: lg after ")
    assert last.endswith("its output is above; 1 of 2 protections had ended")
    assert float(last.removeprefix("interrupted: lg after ").partition(" s")[0]) > 0


def test_a_line_now_and_then_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lossylink.cli import virtual

    monkeypatch.setattr(virtual, "LINE_SECONDS", 10.0)
    now = 100.0
    monkeypatch.setattr("lossylink.cli.virtual.time.monotonic", lambda: now)
    watch = virtual._Watch("lg")
    for second in range(25):
        now = 100.0 + second
        watch.tell(second / 1000, "iperf3")
    assert capsys.readouterr().err.splitlines() == [
        "lg: 0.01 s of virtual time in 10 s, iperf3 runs",
        "lg: 0.02 s of virtual time in 20 s, iperf3 runs",
    ]
