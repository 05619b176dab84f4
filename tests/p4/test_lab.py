"""A lab of software switches under the commands of ``lossylink lab``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lossylink.errors import UserError
from lossylink.linux.lab import Lab, LabSettings
from lossylink.linux.lab import status as show
from lossylink.linux.lab.lab import take_down

PINGS = 100


def name() -> str:
    """Return a name for a lab that no other has."""
    return f"p4x{uuid.uuid4().hex[:6]}"


@contextmanager
def lab(**settings: object) -> Iterator[Lab]:
    """Yield a lab of a name of its own."""
    with Lab.up(LabSettings(dataplane="bmv2", **settings), name=name(), owned=True) as up:
        yield up


def ping(lab: Lab) -> int:
    """Ping a hundred times from h4, and return how many answers came."""
    text = lab.run("h4", ["ping", "-q", "-c", str(PINGS), "-i", "0.01", "-W", "1", "10.2.2.2"], seconds=30)
    return int(text.partition(" packets transmitted, ")[2].split()[0])


def lossylink(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of ours."""
    return subprocess.run(
        [sys.executable, "-m", "lossylink", *words], capture_output=True, text=True, check=False
    )


def test_protection_hides_what_the_link_corrupts_and_can_be_changed() -> None:
    with lab(loss_forward="0.1", protection="lg:copies=3") as up:
        assert ping(up) == PINGS
        near, far = up.guards()
        lost = up.link.counters()["directions"]["forward"]["frames_lost"]
        assert 0 < far["receiver"]["lost"] <= lost
        assert near["sender"]["retransmitted"] == far["receiver"]["lost"]
        assert near["sender"]["outstanding"] == 0
        assert [copies.frames for copies in up.copies() or ()] == [3, 3]

        up.protect("lg-nb:copies=3")
        assert ping(up) == PINGS
        up.protect("off")
        assert up.copies() is None
        numbered = up.guards()[0]["sender"]["data"]
        assert ping(up) < PINGS
        assert up.guards()[0]["sender"]["data"] == numbered
        up.set_loss(forward="none")
        assert ping(up) == PINGS
        with pytest.raises(UserError, match="has no llr"):
            up.protect("llr")


def test_a_change_of_protection_loses_nothing_that_is_under_way() -> None:
    with lab(loss_forward="0.1", protection="lg:copies=3") as up:
        pings = up.start("h4", ["ping", "-q", "-c", "300", "-i", "0.01", "-W", "5", "10.2.2.2"])
        for protection in ("lg-nb:copies=3", "lg:copies=3", "lg-nb:copies=4", "lg:copies=4"):
            up.protect(protection)
        said, _ = pings.communicate(timeout=60)
        assert "300 packets transmitted, 300 received" in said
        assert up.guards()[1]["receiver"]["given_up"] == 0


def test_the_status_has_the_fields_of_the_artifact() -> None:
    with lab(protection="lg") as up:
        up.ping_check()
        said = show.describe(up)
    for field in (
        "software switches (BMv2), MTU 1500, at most 487 frames/s of each host",
        "ig_debug_counter (frames from the LAN): 5",
        "Next seq no: 5",
        "expected_seq_no: 5",
        "ack (time_remaining): 5 (135)",
        "No. of reTx copies: 2",
        "PFC pause threshold: 33 frames",
        "timeout_pkt_trigger_cntr: 0 (frames given up)",
        "in queues or dropped there: 0 at sw2, 0 at sw6; refused or missed at ports: 0",
    ):
        assert field in said


def test_the_fec_model_recovers_what_it_may() -> None:
    with lab(loss_forward="0.1", protection="fec-model:2/6") as up:
        answered = ping(up)
        near, far = up.guards()
        assert near["coder"]["sent_parity"] == 6 * near["coder"]["closed_blocks"] > 0
        assert far["coder"]["recovered"] > 0
        assert answered >= PINGS - far["coder"]["unrecovered"] - far["coder"]["circulating"]


def test_the_commands_work_as_on_any_lab() -> None:
    chosen = name()
    up = lossylink(
        "lab", "up", "--dataplane", "bmv2", "--protection", "lg", "--loss", "1e-2", "--name", chosen
    )
    try:
        assert up.returncode == 0, up.stderr
        assert "5 received" in up.stdout
        again = lossylink("lab", "up", "--dataplane", "bmv2", "--name", chosen)
        assert (again.returncode, len(again.stderr.strip().splitlines())) == (2, 1)
        counters = json.loads(lossylink("lab", "status", "--json", "--name", chosen).stdout)
        assert list(counters) == ["sw2", "sw6"]
        text = lossylink("lab", "status", "--prometheus", "--name", chosen).stdout
        assert 'lossylink_guards_sender_next_seq{at="guard"} 5' in text
        assert "-" in lossylink("lab", "watch", "--rounds", "1", "--interval", "0.1", "--name", chosen).stdout
        told = lossylink("lab", "protect", "lg-nb:copies=1", "--name", chosen).stdout
        assert "switches keep the number that they are told" in told
        refused = lossylink("lab", "loss", "at:3,4", "--name", chosen)
        assert (refused.returncode, len(refused.stderr.strip().splitlines())) == (2, 1)
    finally:
        down = lossylink("lab", "down", "--name", chosen)
    assert "the lab is down" in down.stdout
    assert not take_down(chosen), "nothing is left"


def test_a_lab_hides_in_a_namespace_of_its_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "LOSSYLINK_PRIVATE", "1")
    with lab(protection="lg") as up:
        assert ping(up) == PINGS
