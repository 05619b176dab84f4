"""`lossylink measure` between two boxes over a wire whose losses are known, and over nothing."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lossylink.cli.exits import INTERRUPTED, MISTAKE
from lossylink.measuring.outcome import FIGURES
from lossylink.statistics.estimates import binomial_interval

from .conftest import Ended
from .live_support import PATIENCE_SECONDS, needs_live_lab, needs_tcpdump, until
from .private_boxes import Boxes, private_boxes

needs_live_lab()

_LOSS = {"forward": 0.02, "reverse": 0.005}
_RATE = ("--rate", "2000", "--length", "200B", "--rate-of-link", "1Gbps", "--wait", "60")
#: Settling, accounts and fits, on a machine that is busy.
_LONGEST_SECONDS = 200


@pytest.fixture
def boxes() -> Iterator[Boxes]:
    with private_boxes() as made:
        made.cable("a/eth0", "w/near")
        made.cable("w/far", "b/eth0")
        yield made


def _wire(boxes: Boxes) -> None:
    loss = ["--loss", str(_LOSS["forward"]), "--loss-reverse", str(_LOSS["reverse"])]
    boxes.wire("w", *loss, near="near", far="far")


def _start(boxes: Boxes, box: str, folder: Path, *, seconds: float) -> subprocess.Popen[str]:
    words = boxes.lossylink(
        "measure", "--link", "eth0", "--seconds", str(seconds), *_RATE, "-o", str(folder / box)
    )
    return boxes.start(box, words)


def _end(process: subprocess.Popen[str]) -> Ended:
    out, err = process.communicate(timeout=_LONGEST_SECONDS)
    return Ended(process.returncode, out, err)


def _figures(folder: Path, box: str) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads((folder / box / FIGURES).read_text())
    return figures


def _offered(boxes: Boxes) -> int:
    return int(boxes.counters("w")["directions"]["forward"]["frames_offered"])


def _dropped(counters: dict[str, Any]) -> int:
    """Return what the wire has dropped beside what it corrupted: only where it is kept from running."""
    ports = sum(one["missed"] + one["send_refused"] for one in counters["ports"].values())
    return int(ports + sum(one["queue_dropped"] for one in counters["guards"].values()))


def test_both_ends_find_the_loss_of_both_directions(boxes: Boxes, tmp_path: Path) -> None:
    _wire(boxes)
    ends = [_start(boxes, box, tmp_path, seconds=5) for box in "ab"]
    ended = [_end(process) for process in ends]
    assert [one.code for one in ended] == [0, 0], ended
    near, far = (_figures(tmp_path, box)["directions"] for box in "ab")
    counters = boxes.counters("w")
    for key, other in (("forward", "reverse"), ("reverse", "forward")):
        found, wire = near[key], counters["directions"][key]
        told = ("frames_sent", "frames_lost", "duplicated", "reordered", "run_frames", "dropped_in_boxes")
        assert [found[name] for name in told] == [far[other][name] for name in told]
        # Words are lost as well; everything else that is missing is counted somewhere.
        words = wire["frames_offered"] - found["frames_sent"]
        dropped = _dropped(counters) + found["dropped_in_boxes"]
        assert found["frames_lost"] <= wire["frames_lost"] + dropped
        assert found["frames_lost"] >= wire["frames_lost"] - words - dropped
        least, most = (
            binomial_interval(lost, found["frames_sent"], confidence=0.999)
            for lost in (max(0, found["frames_lost"] - dropped), found["frames_lost"])
        )
        assert least.low <= _LOSS[key] <= most.high
        assert f"{found['frames_lost']:,} lost" in ended[0].out
    _check_round_trip(boxes, tmp_path, near["forward"])


def _check_round_trip(boxes: Boxes, folder: Path, found: dict[str, Any]) -> None:
    """Run the scenario, and the trace as it was recorded: both lose what was measured."""
    scenario = str(folder / "a" / "scenario.toml")
    trace = f"loss.forward=trace:{folder / 'a' / 'forward.trace'}"
    frames = f"traffic.packets={found['frames_sent']}"
    for more, exact in (((), False), (("-s", trace, "-s", frames), True)):
        row = json.loads(boxes.run("a", boxes.lossylink("run", scenario, "--json", *more)))["rows"][0]
        assert found["loss_ratio_low"] <= row["effective_loss_rate"] <= found["loss_ratio_high"]
        if exact:
            assert row["packets_sent"] - row["packets_delivered"] == found["frames_lost"]


def test_ctrl_c_at_one_end_keeps_what_both_have_measured(boxes: Boxes, tmp_path: Path) -> None:
    _wire(boxes)
    ends = [_start(boxes, box, tmp_path, seconds=600) for box in "ab"]
    until(lambda: _offered(boxes) > 1000, seconds=PATIENCE_SECONDS, what="a thousand probes")
    ends[0].send_signal(signal.SIGINT)
    ended = [_end(process) for process in ends]
    assert [one.code for one in ended] == [INTERRUPTED, INTERRUPTED], ended
    assert all("stopped before its time" in one.err for one in ended)
    near, far = (_figures(tmp_path, box) for box in "ab")
    assert near["is_shorter"]
    assert far["is_shorter"]
    sent = near["directions"]["forward"]["frames_sent"]
    assert 500 < sent == far["directions"]["reverse"]["frames_sent"]


def test_a_peer_that_is_killed_leaves_its_own_direction(boxes: Boxes, tmp_path: Path) -> None:
    _wire(boxes)
    ends = [_start(boxes, box, tmp_path, seconds=600) for box in "ab"]
    until(lambda: _offered(boxes) > 1000, seconds=PATIENCE_SECONDS, what="a thousand probes")
    ends[1].kill()
    ended = _end(ends[0])
    assert ended.code == INTERRUPTED
    assert "the peer fell silent: the loss on the way to it is unknown" in ended.err
    assert list(_figures(tmp_path, "a")["directions"]) == ["reverse"]
    assert not (tmp_path / "b").exists()


def test_without_a_peer_there_is_one_line(boxes: Boxes, tmp_path: Path) -> None:
    words = ("measure", "--link", "eth0", "--wait", "0.5", "--rate-of-link", "1G", "-o", str(tmp_path / "a"))
    ended = _end(boxes.start("a", boxes.lossylink(*words)))
    says = "no peer answered on eth0 within 0.5 s: run the same command on the other box, or add --counters"
    assert (ended.code, ended.out, ended.err) == (MISTAKE, "", f"error: {says}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_veth_counts_nothing_and_says_so(boxes: Boxes, tmp_path: Path) -> None:
    words = ("measure", "--link", "eth0", "--counters", "--seconds", "1", "-o", str(tmp_path / "a"))
    ended = _end(boxes.start("a", boxes.lossylink(*words)))
    assert ended.code == MISTAKE
    assert ended.err.startswith(
        "error: eth0 (veth) counts no corrupted frames, which is not the same as no loss"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_capture_of_the_probes_tells_the_same(boxes: Boxes, tmp_path: Path) -> None:
    needs_tcpdump()
    _wire(boxes)
    capture = tmp_path / "probes.pcap"
    dump = boxes.start("b", ["tcpdump", "-i", "eth0", "-Q", "in", "-B", "65536", "-U", "-w", str(capture)])
    until(capture.exists, seconds=PATIENCE_SECONDS, what="the start of the capture")
    ends = [_start(boxes, box, tmp_path, seconds=2) for box in "ab"]
    assert [_end(process).code for process in ends] == [0, 0]
    dump.send_signal(signal.SIGINT)
    said = _end(dump).err
    boxes.run("b", boxes.lossylink("fit", str(capture), "-o", str(tmp_path / "fitted")))
    found, known = (_figures(tmp_path, one)["directions"] for one in ("fitted", "b"))
    # A capture does not tell of probes that were lost at the ends.
    at_the_ends = known["reverse"]["frames_sent"] - found["forward"]["frames_sent"]
    assert "0 packets dropped by kernel" in said
    assert 0 <= at_the_ends < 20
    assert found["forward"]["frames_lost"] == known["reverse"]["frames_lost"] - at_the_ends
