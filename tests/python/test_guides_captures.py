"""The guide to captures: its commands show the frames that it shows."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "guides" / "captures.md").read_text(encoding="utf-8")
PAIRS = re.findall(
    r"^```\nlossylink (run .+)\n(tshark .+)\n```\n\n```\n((?:.|\n)*?)^```$", GUIDE, re.MULTILINE
)


def test_the_guide_has_captures() -> None:
    assert len(PAIRS) == 2


@pytest.mark.parametrize(("recording", "reading", "shown"), PAIRS, ids=["linkguardian", "llr"])
def test_a_capture_is_as_shown(recording: str, reading: str, shown: str, tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        assert "CI" not in os.environ, "tshark is missing; tools/setup installs it"
        pytest.skip("tshark is not installed")
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    for command in ([sys.executable, "-m", "lossylink", *shlex.split(recording)], shlex.split(reading)):
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    frames = [line.rstrip() for line in done.stdout.splitlines()]
    expected = [line.rstrip() for line in shown.splitlines() if line.strip() != "..."]
    assert len(expected) >= 3
    assert [line for line in expected if line not in frames] == []
