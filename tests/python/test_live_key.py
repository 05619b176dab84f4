"""Guards that share a secret, live: what they seal arrives, and who has another secret is nobody to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossylink.errors import RunError, UserError

from .live_support import PATIENCE_SECONDS, agreed, lab, needs_live_lab, run_counted, until

needs_live_lab()


def _key(folder: Path, *, mode: int = 0o600) -> Path:
    path = folder / "link.key"
    path.write_text("a secret that nobody else knows\n")
    path.chmod(mode)
    return path


@pytest.mark.parametrize("protection", ["lg:copies=3", "fec:10/3", "llr"])
def test_sealed_guards_recover_what_the_wire_corrupts(tmp_path: Path, protection: str) -> None:
    with lab(split=True, key_file=_key(tmp_path), protection=protection, loss_forward="1%") as up:
        until(lambda: agreed(up), seconds=PATIENCE_SECONDS, what="agreement")
        tally, dropped = run_counted(up, rate_bps=50_000_000, frame_bytes=1000, frames=20_000)
        near, far = up.guards()
        assert near["sealed"]
        assert far["sealed"]
        assert [near["other_seal"], far["other_seal"]] == [0, 0]
        assert [near["foreign"], far["foreign"]] == [0, 0]
        # Nothing comes twice on this wire.
        assert [near["repeated"], far["repeated"]] == [0, 0]
        assert up.link.counters()["directions"]["forward"]["frames_lost"] > 100
        given_up = far.get("receiver", {}).get("given_up", 0) + far.get("coder", {}).get("unrecovered", 0)
        assert tally["sent"] - tally["delivered"] <= dropped + given_up
        assert tally["altered"] == tally["duplicated"] == tally["reordered"] == 0


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises((UserError, RunError), match="chmod 600"), lab(key_file=_key(tmp_path, mode=0o644)):
        pass
