"""Every run ends on a signal, whatever the simulator does, and keeps what had finished."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import lossylink
from lossylink.cli.exits import INTERRUPTED

#: Longest time from a signal to the end of the process, in seconds, on a machine that is busy.
PATIENCE = 20

#: File of what a process says on its standard error.
COMPLAINT = "complaint"

#: Runs in which the simulator is busy for long: much longer than a block of flows lasts.
ENDLESS = {
    "replays": "run stress -p llr:replays=255 -s loss=90% -s traffic.packets=1G",
    "generator": "run stress -p lg -s traffic.source=generator -s traffic.packets=10G",
    "rare": "run stress -p lg --rare -s run.looks=100M",
    "flows": "run tcp-fct -p llr -s loss=1% -s flow.size=1GB -s flow.trials=1000",
    "messages": "run rdma-fct -p lg -s flow.size=1GB -s flow.trials=1000",
    "workload": "run workload -p fec:5/2 -s flow.trials=10M -s flow.load=90%",
    "throughput": "run throughput -p llr -s run.duration=20000s",
    "timeline": "run timeline -p lg -s run.duration=20000s",
    "fec": "run fec -p fec:5/2 -s run.duration=20000s",
    "sweep": "sweep stress -p llr:replays=255 -g loss=80%,90% -s traffic.packets=1G",
}


@contextlib.contextmanager
def at_work(words: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process whose simulator is at work: it has taken a second of processor time."""
    with (
        (folder / COMPLAINT).open("w") as complaint,
        subprocess.Popen(
            [sys.executable, "-m", "lossylink", *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=complaint,
            text=True,
            # A shell that runs the tests in the background has them ignore SIGINT, and so would the process.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process,
    ):
        ticks = os.sysconf("SC_CLK_TCK")
        while cpu_ticks(process.pid) < ticks:
            assert process.poll() is None, complaint_in(folder)
            time.sleep(0.05)
        yield process


def complaint_in(folder: Path) -> str:
    return (folder / COMPLAINT).read_text()


def cpu_ticks(pid: int) -> int:
    """Return the processor time of a process, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", ENDLESS)
def test_a_signal_ends_any_run(name: str, asked: signal.Signals, tmp_path: Path) -> None:
    with at_work(ENDLESS[name].split(), tmp_path) as process:
        process.send_signal(asked)
        process.wait(timeout=PATIENCE)
    complaint = complaint_in(tmp_path)
    assert process.returncode == INTERRUPTED, complaint
    assert "interrupted" in complaint
    assert "Traceback" not in complaint


def test_flows_before_the_signal_are_kept(tmp_path: Path) -> None:
    """A block of a hundred flows is cut: those of it that had ended are in the row."""
    words = ["run", "tcp-fct", "-p", "none", "--set", "flow.size=500MB", "--set", "flow.trials=100"]
    with at_work([*words, "--set", "loss=1%", "--threads", "1", "--output", "kept"], tmp_path) as process:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE)
    complaint = complaint_in(tmp_path)
    assert "kept what had finished in kept" in complaint
    row = json.loads((tmp_path / "kept" / "summary.json").read_text())["rows"][0]
    assert 0 < row["trials"] < 100


def test_a_signal_interrupts_the_python_api() -> None:
    """The main thread of a program gets its Ctrl-C back as the result of a run that was cut short."""
    # A shell lets what it starts in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1.0, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    try:
        run = lossylink.run("throughput", protection="lg", settings={"run.duration": "20000s"})
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert run.interrupted


def test_a_second_signal_ends_a_process_that_answers_none(tmp_path: Path) -> None:
    """The main thread sits in a call that never comes back to Python, as a native call may."""
    code = (
        "import signal, sys, threading\n"
        "from lossylink.linux.signals import sigterm_as_ctrl_c\n"
        "with sigterm_as_ctrl_c():\n"
        "    signal.signal(signal.SIGINT, lambda *_: None)\n"
        "    print('ready', flush=True)\n"
        "    threading.Event().wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == INTERRUPTED
    assert complaint.startswith("ended at once by a second signal")
