"""Fixtures shared by the tests of the Python package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from lossylink.cli import run_command_line

# A deadline would test how busy the machine is.
settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")


@dataclass(frozen=True)
class Ended:
    """How a command line ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ended]:
    """Run a command line in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ended:
        code = run_command_line(arguments)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run
