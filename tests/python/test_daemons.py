"""Processes that outlive us: we wait until one is up, and hear out one that does not come up."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lossylink.errors import RunError
from lossylink.linux.lab.enclave import Enclave
from lossylink.linux.lab.plane import start_plane
from lossylink.linux.lab.process import process_of, start_daemon

from .live_support import PATIENCE_SECONDS, until


class _Here(Enclave):
    """The namespace that we are in."""

    def inside(self, namespace: str, command: list[str]) -> list[str]:  # type: ignore[override]
        return command


def _start(script: str, log: Path, *, is_up: Callable[[], bool] = lambda: False) -> None:
    start_daemon(["sh", "-c", script], log, is_up=is_up, patience_seconds=PATIENCE_SECONDS)


def test_a_complaint_is_read_when_it_is_whole(tmp_path: Path) -> None:
    script = "printf 'error: ' >&2; sleep 0.3; printf 'others may read the key\\n' >&2; exit 2"
    with pytest.raises(RunError, match="^others may read the key$"):
        _start(script, tmp_path / "log")


def test_a_daemon_that_ends_silently_is_not_awaited(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="^it ended and said nothing$"):
        _start("exit 3", tmp_path / "log")


def test_a_daemon_that_warns_comes_up(tmp_path: Path) -> None:
    up = tmp_path / "up"
    script = f"echo 'warning: slow' >&2; sleep 0.1; echo $$ > '{up}.new'; mv '{up}.new' '{up}'; exec sleep 60"
    _start(script, tmp_path / "log", is_up=up.exists)
    process = process_of(int(up.read_text()))
    assert process is not None
    try:
        assert process.is_alive()
    finally:
        os.kill(process.pid, signal.SIGKILL)


def test_a_daemon_that_does_not_come_up_in_time_is_told_with_what_it_said(tmp_path: Path) -> None:
    pid, log = tmp_path / "pid", tmp_path / "log"
    script = f"echo $$ > '{pid}'; echo 'warning: slow' >&2; exec sleep 60"

    def never() -> bool:
        until(lambda: "slow" in log.read_text(), seconds=PATIENCE_SECONDS, what="the warning")
        return False

    try:
        with pytest.raises(RunError, match=r"^it did not come up in 0\.1 s, and said: warning: slow$"):
            start_daemon(["sh", "-c", script], log, is_up=never, patience_seconds=0.1)
    finally:
        os.kill(int(pid.read_text()), signal.SIGKILL)


def test_a_data_plane_that_refuses_is_heard_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "reluctant.py").write_text(
        "import sys, time\n"
        "for words in ('error: ', 'others may read the key', ': chmod 600\\n'):\n"
        "    sys.stderr.write(words)\n"
        "    sys.stderr.flush()\n"
        "    time.sleep(0.1)\n"
        "sys.exit(2)\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    config = {"control": str(tmp_path / "control")}
    with pytest.raises(RunError, match="^the data plane in here: others may read the key: chmod 600$"):
        start_plane(_Here(), "here", config, tmp_path / "log", module="reluctant")
