"""What a guard says of itself while it runs."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from pathlib import Path

from .live_support import PATIENCE_SECONDS, needs_live_lab, until
from .private_boxes import private_boxes

needs_live_lab()


class _Said:
    """The lines that a process writes to its standard error, as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self.lines.append(line.rstrip("\n"))

    def wait_for(self, beginning: str) -> None:
        until(
            lambda: any(line.startswith(beginning) for line in self.lines),
            seconds=PATIENCE_SECONDS,
            what=f"'{beginning}'",
        )
        self.lines.clear()

    def rest(self) -> list[str]:
        self._reader.join(PATIENCE_SECONDS)
        return self.lines


def test_a_guard_tells_who_comes_and_goes(tmp_path: Path) -> None:
    key = tmp_path / "link.key"
    key.write_text("a secret that nobody else knows\n")
    key.chmod(0o600)
    with private_boxes() as boxes:
        boxes.cable("h1/eth0", "b1/lan")
        boxes.cable("b1/trunk", "b2/trunk")
        boxes.cable("b2/lan", "h2/eth0")
        near = boxes.guard("b1", "--key-file", str(key), lan="lan", link="trunk")
        said = _Said(near)
        said.wait_for("protects by lg; looks for a guard")
        stranger = boxes.guard("b2", lan="lan", link="trunk")
        said.wait_for("messages arrive that are not sealed as ours")
        stranger.kill()
        far = boxes.guard("b2", "-p", "llr", "--key-file", str(key), lan="lan", link="trunk")
        said.wait_for("peer found: this end protects by lg, the peer by llr")
        ask = [*boxes.lossylink("guard"), "status", "--control", "/run/b1.sock"]
        status = boxes.run("b1", ask)
        assert "peer: agreed; this end protects by lg, the peer by llr" in status
        assert "frames sealed" in status
        assert json.loads(boxes.run("b1", [*ask, "--json"]))["guards"]["guard"]["sealed"]
        # 30 bytes for the longest frame of any family and 8 of a seal (docs/guides/live-lab.md).
        assert boxes.state("b1", "trunk")[0] == 1538
        assert "lossylink_guards_sessions_total" in boxes.run("b1", [*ask, "--prometheus"])
        change = [*boxes.lossylink("guard"), "set", "lg:copies=3", "--control", "/run/b1.sock"]
        assert boxes.run("b1", change).startswith("this end protects by lg")
        assert boxes.counters("b1")["guards"]["guard"]["sender"]["copies"] == 3
        far.kill()
        said.wait_for("peer lost: frames pass unprotected")
        # SIGTERM still drains and restores: the thread that tells takes no signal.
        near.send_signal(signal.SIGTERM)
        assert near.wait(PATIENCE_SECONDS) == 0
        assert not any("Traceback" in line for line in said.rest())
        assert boxes.state("b1", "trunk")[0] == 1500


def test_a_guard_without_a_key_says_whom_it_trusts() -> None:
    with private_boxes() as boxes:
        boxes.cable("h1/eth0", "b1/lan")
        boxes.cable("b1/trunk", "b2/trunk")
        said = _Said(boxes.guard("b1", lan="lan", link="trunk"))
        said.wait_for("no --key-file: whoever can send on the link is trusted")
