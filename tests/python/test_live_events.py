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
        """Wait for a line, and forget it with those before it; lines behind it may have come as well."""
        until(
            lambda: any(line.startswith(beginning) for line in self.lines),
            seconds=PATIENCE_SECONDS,
            what=f"'{beginning}'",
        )
        found = next(place for place, line in enumerate(self.lines) if line.startswith(beginning))
        del self.lines[: found + 1]

    def rest(self) -> list[str]:
        self._reader.join(PATIENCE_SECONDS)
        return self.lines


def test_a_guard_tells_who_comes_and_goes(tmp_path: Path) -> None:
    key = tmp_path / "link.key"
    key.write_text("a secret that nobody else knows\n")
    key.chmod(0o600)
    with private_boxes() as boxes:
        boxes.between_hosts()
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
        # 8 bytes of VLAN tags, 30 for the longest frame of any family, 8 of a seal.
        assert boxes.state("b1", "trunk")[0] == 1546
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


def test_a_guard_protects_once_the_link_corrupts_frames() -> None:
    with private_boxes() as boxes:
        boxes.between_hosts(wire=True)
        boxes.wire("m", "--loss", "2%", near="near", far="far")
        near = _Said(boxes.guard("b1", "--auto", lan="lan", link="trunk"))
        far = _Said(boxes.guard("b2", "--auto", lan="lan", link="trunk"))
        near.wait_for("peer found: this end protects by none, the peer by none")
        boxes.start("h1", ["ping", "-q", "-i", "0.002", "10.9.0.2"])

        def protections() -> tuple[str, str]:
            report = boxes.counters("b1")["guards"]["guard"]
            return report["protection"].partition(":")[0], report["peer_protection"]

        until(lambda: protections() == ("lg", "none"), seconds=PATIENCE_SECONDS, what="protection of one way")
        watching = boxes.run(
            "b1", [*boxes.lossylink("guard"), "watch", "--control", "/run/b1.sock", "--rounds", "1"]
        )
        assert "LAN to link" in watching
        assert "corrupted on the way to the peer: " in " ".join(watching.split())
        reason = "lost on the way to the peer: lg:copies="
        until(lambda: any(reason in line for line in near.lines), seconds=PATIENCE_SECONDS, what=reason)
        assert not any("lg:" in line and "lost on" in line for line in far.lines), "the way back is clean"


def test_a_link_that_carries_only_short_frames_is_named() -> None:
    with private_boxes() as boxes:
        boxes.between_hosts(wire=True)
        boxes.wire("m", "--mtu", "1500", near="near", far="far")
        said = _Said(boxes.guard("b1", lan="lan", link="trunk"))
        boxes.guard("b2", lan="lan", link="trunk")
        said.wait_for("the peer is there, but frames of 1,536 bytes do not reach it")
        # Frames of full length pass, as they are.
        pinged = boxes.run(
            "h1", ["ping", "-q", "-M", "do", "-s", "1472", "-c", "20", "-i", "0.02", "10.9.0.2"]
        )
        assert " 0% packet loss" in pinged


def test_lans_of_different_lengths_are_named() -> None:
    with private_boxes() as boxes:
        boxes.between_hosts()
        said = _Said(boxes.guard("b1", lan="lan", link="trunk"))
        boxes.guard("b2", "--mtu", "9000", lan="lan", link="trunk")
        said.wait_for("frames of the peer's LAN have up to 9,022 bytes, those of this one up to 1,522")
