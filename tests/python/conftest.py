"""Fixtures shared by the tests of the Python package."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings
from rich.console import Console

from lossylink.cli import run_command_line
from lossylink.reproduce import ReproduceResult, reproduce

from .synthetic import synthetic_runner

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


@dataclass(frozen=True)
class Reproduced:
    """A reproduction of every experiment from made-up runs; nothing may be written to its folder."""

    folder: Path
    result: ReproduceResult
    printed: str
    """What a terminal of 80 columns shows."""


@pytest.fixture(scope="session")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Reproduced:
    """Give the one reproduction of every experiment, which takes eight seconds."""
    folder, told = tmp_path_factory.mktemp("reproduced"), io.StringIO()
    result = reproduce(
        output=folder,
        runner=synthetic_runner,
        console=Console(file=told, width=80, color_system=None),
        progress=False,
        with_figures=False,
        command=["lossylink", "reproduce"],
    )
    return Reproduced(folder, result, told.getvalue())
