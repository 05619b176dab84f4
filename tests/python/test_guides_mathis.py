"""The guides name every check, trap, threshold and row key that exists, so that they cannot fall behind."""

from __future__ import annotations

from pathlib import Path

from lossylink.results import checks
from lossylink.running import mathis

from .fake_simulator import BASE
from .mathis_support import study

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
CHECKS = (GUIDES / "methodology-checks.md").read_text()
STUDY = (GUIDES / "mathis.md").read_text()


def test_every_check_and_trap_is_described() -> None:
    assert [name for name in checks.CHECKS if f"| `{name}` |" not in CHECKS] == []
    assert [name for name in mathis.traps.TRAPS if f"| `{name}` |" not in CHECKS] == []


def test_thresholds_are_those_of_the_code() -> None:
    limits = checks.Thresholds()
    assert f"{limits.loss_ratio_confidence:.2%} confidence".replace("%", " %") in CHECKS
    assert f">= {limits.expected_losses_at_least:g} expected losses" in CHECKS
    assert f"<= {limits.rtt_inflation_at_most:g} |" in CHECKS
    assert f"+ {limits.frame_slack_bytes} B of slack" in CHECKS


def test_every_key_of_a_row_is_described() -> None:
    common = {"protection", "loss_rate", "link_gbps", "congestion_control", "largest_frame_bytes"}
    base = BASE | {"transport": BASE["transport"] | {"congestion_control": "cubic"}}
    row = study(base, mathis.Design(loss_ratios=(0.01,))).rows[0]
    assert [key for key in row if key not in common and f"`{key}`" not in STUDY] == []
