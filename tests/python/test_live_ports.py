"""The ports other than TAP: the same lab on cables, through packet sockets and through XDP."""

from __future__ import annotations

import os
import socket

import pytest

from lossylink.errors import UserError
from lossylink.linux.lab import Lab, LabSettings, xdp

from .live_support import PATIENCE_SECONDS, agreed, lab, needs_live_lab, run_counted, until

needs_live_lab()

#: Numbered frames at a rate that a busy two-core machine forwards.
_RATE_BPS = 40_000_000


def needs_xdp() -> None:
    """Skip where the port does not work; in CI that is a failure if the kernel has such sockets."""
    reason = xdp.obstacle()
    if reason is None:
        return
    if os.environ.get("CI") and os.geteuid() == 0 and _kernel_has_xdp():
        raise RuntimeError(f"this kernel has XDP sockets, but {reason}")
    pytest.skip(f"xdp: {reason}")


def _kernel_has_xdp() -> bool:
    try:
        # Python does not name the family: AF_XDP of linux/socket.h.
        socket.socket(44, socket.SOCK_RAW).close()
    except OSError:
        return False
    return True


@pytest.fixture(params=["packet", "xdp"])
def port(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name == "xdp":
        needs_xdp()
    return name


@pytest.mark.parametrize("split", [False, True])
def test_a_protected_link_on_cables_delivers_every_frame_once(port: str, split: bool) -> None:
    with lab(port=port, split=split, protection="lg:copies=4", loss_forward="2%") as up:
        until(lambda: agreed(up), seconds=PATIENCE_SECONDS, what="agreement of the guards")
        tally, dropped = run_counted(up, frames=3_000, frame_bytes=700, rate_bps=_RATE_BPS)
        near, far = up.guards()
    assert tally["altered"] == tally["duplicated"] == tally["reordered"] == 0
    assert near["sender"]["retransmitted"] > 0
    # What a stalled machine drops, or gives up because it hears the retransmission too late, is counted.
    assert tally["sent"] - tally["delivered"] <= dropped + far["receiver"]["given_up"]


def test_jumbo_frames_cross_whole(port: str) -> None:
    with lab(port=port, mtu_bytes=9000) as up:
        tally, dropped = run_counted(up, frames=300, frame_bytes=9014, rate_bps=_RATE_BPS)
        report = up.run("h4", ["ping", "-q", "-M", "do", "-s", "8972", "-c", "20", "-i", "0.01", "10.2.2.2"])
    assert 300 - tally["delivered"] <= dropped < 300
    assert tally["altered"] == 0
    assert " 100% packet loss" not in report


def test_xdp_without_its_privileges_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOSSYLINK_PRIVATE", "1")
    with pytest.raises(UserError, match="xdp does not work here: a private lab may load no XDP program"):
        Lab.up(LabSettings(port="xdp"), name="noxdp")
