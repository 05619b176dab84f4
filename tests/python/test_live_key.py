"""Guards that share a secret, live: what they seal arrives, and who has another secret is nobody to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossylink.errors import RunError, UserError
from lossylink.linux.lab import Lab

from .live_support import PATIENCE_SECONDS, agreed, lab, needs_live_lab, run_counted, sessions, until

needs_live_lab()


def _key(folder: Path, *, mode: int = 0o600) -> Path:
    path = folder / "link.key"
    path.write_text("a secret that nobody else knows\n")
    path.chmod(mode)
    return path


def _is_recovered(up: Lab) -> bool:
    """Send frames and check what arrived; whether all did but those that a counter accounts for."""
    begun = sessions(up)
    given_up = _given_up(up)
    tally, dropped = run_counted(up, rate_bps=50_000_000, frame_bytes=1000, frames=20_000)
    near, far = up.guards()
    assert near["sealed"]
    assert far["sealed"]
    assert tally["altered"] == tally["duplicated"] == 0
    # Nothing comes twice on this wire, and both ends have the same key.
    for counter in ("repeated", "other_seal"):
        assert near[counter] == far[counter] == 0
    if sessions(up) != begun:
        return False  # a guard was kept from running for half a second
    assert tally["reordered"] == 0
    return tally["sent"] - tally["delivered"] <= dropped + _given_up(up) - given_up


def _given_up(up: Lab) -> int:
    near, far = up.guards()
    given_up = far.get("receiver", {}).get("given_up", 0) + far.get("coder", {}).get("unrecovered", 0)
    return int(given_up + near.get("llr", {}).get("tx_given_up", 0))


#: Runs of which one must show what a machine that is not kept from running does.
_ATTEMPTS = 4


@pytest.mark.parametrize("protection", ["lg:copies=3", "fec:10/3", "llr"])
def test_sealed_guards_recover_what_the_wire_corrupts(tmp_path: Path, protection: str) -> None:
    with lab(split=True, key_file=_key(tmp_path), protection=protection, loss_forward="1%") as up:
        until(lambda: agreed(up), seconds=PATIENCE_SECONDS, what="agreement")
        assert any(_is_recovered(up) for _ in range(_ATTEMPTS))
        assert up.link.counters()["directions"]["forward"]["frames_lost"] > 100


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises((UserError, RunError), match="chmod 600"), lab(key_file=_key(tmp_path, mode=0o644)):
        pass
