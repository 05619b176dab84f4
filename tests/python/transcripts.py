"""Commands in documents: those that are shown with what they print, and all others.

``python -m tests.python.transcripts`` runs the shown ones and writes what they print into the documents.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Documents whose blocks marked ``console`` are run from top to bottom in one directory.
SHOWN = (
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("index.md", "tutorial.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
)
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"[Ss]ave this as `([^`]+)`[^`]*```(?:toml|csv)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^(?:\$ |\.venv/bin/|    |[A-Z_]+=\S+ )*lossylink ((?!live\b)[a-z].*)$")
#: What differs from run to run: how long it took.
_TIME = re.compile(r"\bin \d+\.\d s$", re.MULTILINE)

_PROGRESS = re.compile(r"^[a-z-]+: \d+%, about ")


@dataclass(frozen=True)
class Step:
    """A command and what it prints."""

    command: str
    output: str


def steps(text: str) -> list[Step]:
    """Every command of the blocks marked ``console``, in order."""
    found = []
    for block in _BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            place = next(index for index, line in enumerate(lines) if not line.endswith("\\"))
            command = " ".join(line.removesuffix("\\").strip() for line in lines[: place + 1])
            found.append(Step(command, plain("\n".join(lines[place + 1 :]))))
    return found


def plain(text: str) -> str:
    """A text without what differs between runs."""
    lines = (line.rstrip() for line in _TIME.sub("in ... s", text).splitlines())
    return "\n".join(line for line in lines if line and not _PROGRESS.match(line))


def write_files(text: str, directory: Path) -> None:
    """Write the files that a document tells its reader to save."""
    for name, contents in _FILE.findall(text):
        (directory / name).write_text(contents, encoding="utf-8")


def run(command: str, directory: Path) -> str:
    """What a terminal of the usual width shows."""
    words = shlex.split(command)
    if words[0] == "lossylink":
        words = [sys.executable, "-m", *words]
    elif words[0] == "python":
        words[0] = sys.executable
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(words, capture_output=True, text=True, cwd=directory, env=environment, check=False)
    return plain(done.stdout + done.stderr)


def commands() -> Iterator[tuple[Path, str]]:
    """Every line of a document that calls lossylink, continued lines joined."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in text.splitlines():
            match = _COMMAND.match(line)
            if match:
                yield path, re.split(r" # | && | \| | > | \[--", match[1])[0]


def rewrite(path: Path) -> None:
    """Put what the commands of a document print now into it."""
    with tempfile.TemporaryDirectory() as directory:
        write_files(path.read_text(encoding="utf-8"), Path(directory))

        def renewed(match: re.Match[str]) -> str:
            parts = []
            for part in re.split(r"^\$ ", match[1], flags=re.MULTILINE)[1:]:
                lines = part.splitlines()
                place = next(index for index, line in enumerate(lines) if not line.endswith("\\"))
                (step,) = steps(f"```console\n$ {part}```")
                shown = ["$ " + lines[0], *lines[1 : place + 1], run(step.command, Path(directory))]
                parts.append("\n".join(line for line in shown if line) + "\n")
            return "```console\n" + "".join(parts) + "```"

        path.write_text(_BLOCK.sub(renewed, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for document in SHOWN:
        if document.is_file():
            rewrite(document)
