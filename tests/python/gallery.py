"""Draws the figures of the gallery: ``python -m tests.python.gallery``.

Each ends as ``docs/figures/gallery/NAME.png``, NAME being the directory that the gallery's command writes to.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from pathlib import Path

from .transcripts import ROOT, commands, run

GALLERY = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "figures" / "gallery"
COMMANDS = [words for path, words in commands() if path == GALLERY]
NAMES = [Path(shlex.split(words)[-1]).name for words in COMMANDS if words.startswith("plot ")]
"""The figures, in order."""


def draw() -> None:
    """Run every command of the gallery, and keep the pictures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for words in COMMANDS:
            run(f"lossylink {words}", Path(folder))
        for name in NAMES:
            (picture,) = (Path(folder) / "pictures" / name).glob("*.png")
            shutil.copy(picture, PICTURES / f"{name}.png")


if __name__ == "__main__":
    draw()
