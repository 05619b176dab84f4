"""The guide to Python: its blocks run, one after another, and do what the text around them says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import lossylink

GUIDE = (Path(__file__).resolve().parents[2] / "docs/guides/python.md").read_text()
BLOCKS = re.findall(r"^```python( no-run)?\n((?:.|\n)*?)^```$", GUIDE, re.MULTILINE)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the blocks left behind."""
    found: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("guide"))
        for is_not_run, text in BLOCKS:
            code = compile(text, "guide", "exec")
            if not is_not_run:
                exec(code, found)
        found["files"] = sorted(
            str(path) for path in Path().rglob("*") if path.suffix in {".pdf", ".png", ".csv"}
        )
        found["again_rows"] = lossylink.load("results/fct").rows
    return found


def test_the_guide_has_its_blocks() -> None:
    assert [bool(mark) for mark, _ in BLOCKS] == [False] * 7 + [True]


def test_the_blocks_give_what_the_text_says(names: dict[str, Any]) -> None:
    assert names["run"].rows["protection"].to_list() == ["none", "lg"]
    assert names["slow"]["beyond"].to_list() == [2]
    assert names["figure"].axes[0].get_xscale() == "log"
    assert names["again_rows"].equals(names["again"].rows)
    assert names["speeds"].shape == (6, 3)
    assert names["choice"].recommended == "lg-nb:copies=2"
    assert names["files"] == [
        *("fct.pdf", "goodput.png", "results/fct/rows.csv", "results/fct/trials.csv"),
    ]


def test_pairs_of_frames_are_lost(names: dict[str, Any]) -> None:
    spelling = names["paired"].scenario["loss"]["forward"]
    ranges = [part for part in spelling.removeprefix("at:").split(",") if part]
    assert len(ranges) > 10
    assert all("-" in part for part in ranges[1:-1])


def test_the_limits_are_those_of_the_code() -> None:
    from lossylink.scenario.loss import MAX_POSITIONS
    from lossylink.scenario.loss_function import FRAMES

    assert f"else for {FRAMES:,} frames" in GUIDE
    assert f"`at:...` of {MAX_POSITIONS:,} frames at most" in GUIDE
