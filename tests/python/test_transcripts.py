"""What documents show of commands is what the commands print, and every command in them is one."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from lossylink.cli.runs.running import parse_settings
from lossylink.running.sweeping import parse_grid
from lossylink.scenario.resolving import resolve

from .gallery import GALLERY, NAMES, PICTURES
from .test_help import COMMANDS
from .transcripts import SHOWN, commands, run, steps, write_files

WITH_STEPS = [path for path in SHOWN if path.is_file() and steps(path.read_text(encoding="utf-8"))]
EVERY = list(dict.fromkeys(words for _, words in commands()))


@pytest.mark.parametrize("path", WITH_STEPS, ids=lambda path: path.name)
def test_a_document_shows_what_its_commands_print(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    write_files(text, tmp_path)
    for step in steps(text):
        assert run(step.command, tmp_path) == step.output, step.command


def test_there_are_commands() -> None:
    assert len(EVERY) > 60


@pytest.mark.parametrize("words", EVERY)
def test_a_command_of_a_document_is_understood(words: str) -> None:
    """Its options exist, and what it sets are keys of its experiment."""
    split = shlex.split(words)
    path = next(tuple(split[:length]) for length in (2, 1) if tuple(split[:length]) in COMMANDS)
    context = COMMANDS[path].make_context("lossylink", split[len(path) :])  # raises on a mistake
    values = context.params
    if path not in {("run",), ("sweep",)} or values["experiment"].endswith(".toml"):
        return
    settings = parse_settings(values["settings"] or [])
    grid = {key: choices[0] for key, choices in parse_grid(values.get("grid") or []).items()}
    settings |= {key: value for key, value in grid.items() if key not in {"protection", "seed"}}
    files = [key for key, value in settings.items() if value.startswith("mine.")]
    assert resolve(
        values["experiment"],
        settings={key: value for key, value in settings.items() if key not in files},
        protection=values["protection"],
    )


def test_the_gallery_shows_each_of_its_figures() -> None:
    text = GALLERY.read_text(encoding="utf-8")
    assert len(NAMES) == len(set(NAMES)) == 10
    assert all(f"](figures/gallery/{name}.png)" in text for name in NAMES)
    assert {path.stem for path in PICTURES.iterdir()} == set(NAMES)
