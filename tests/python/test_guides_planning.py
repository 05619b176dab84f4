"""The guide to planning: its transcripts are what the command prints.

``python -m tests.python.test_guides_planning`` writes them anew.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "planning.md"
TRANSCRIPT = re.compile(r"^```\n\$ lossylink (plan .+)\n((?:.|\n)*?)^```$", re.MULTILINE)
PROGRESS = re.compile(r"\w+: \d+%(, about .* left)?")
TRANSCRIPTS = TRANSCRIPT.findall(GUIDE.read_text())


def printed(words: str, directory: Path) -> str:
    """What a terminal of the usual width shows."""
    command = [sys.executable, "-m", "lossylink", *shlex.split(words)]
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=directory, env=environment, check=False
    )
    # A busy machine shows how far a command has come.
    told = [line for line in done.stderr.splitlines() if PROGRESS.fullmatch(line) is None]
    return "\n".join([done.stdout.rstrip("\n"), *told]).strip("\n") + "\n"


def trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_the_guide_has_transcripts() -> None:
    assert len(TRANSCRIPTS) == 8


@pytest.mark.parametrize(("words", "shown"), TRANSCRIPTS, ids=[words for words, _ in TRANSCRIPTS])
def test_a_transcript_is_true(words: str, shown: str, tmp_path: Path) -> None:
    assert trimmed(printed(words, tmp_path)) == trimmed(shown)


def _rewrite() -> None:
    """Put what the commands print now into the guide."""
    with tempfile.TemporaryDirectory() as directory:

        def renewed(match: re.Match[str]) -> str:
            lines = "\n".join(trimmed(printed(match[1], Path(directory))))
            return f"```\n$ lossylink {match[1]}\n{lines}\n```"

        GUIDE.write_text(TRANSCRIPT.sub(renewed, GUIDE.read_text()))


if __name__ == "__main__":
    _rewrite()
