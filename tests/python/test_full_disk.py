"""A disk that takes no more: one line, nothing half-written, and the same call goes on when there is room.

A limit on the size of files stands for the disk: the system refuses the same call, with another number.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from lossylink.cli.exits import FAILED, MISTAKE

#: More than the summary of a small run, and less than its tables.
TABLES_DO_NOT_FIT = 6_000
NOTHING_FITS = 100
FLOWS = ("tcp-fct", "-p", "lg", "--set", "flow.trials=3000")
SWEPT = ("sweep", "stress", "-p", "none", "-s", "traffic.packets=2000", "--output", "kept")


def call(
    folder: Path, *words: str, largest_file_bytes: int | None = None
) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        if largest_file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file_bytes, largest_file_bytes))

    return subprocess.run(
        [sys.executable, "-m", "lossylink", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )


def refusal(ended: subprocess.CompletedProcess[str]) -> str:
    """Return the line by which a command ended that could not write."""
    assert ended.returncode == MISTAKE, ended.stderr
    (line,) = (line for line in ended.stderr.splitlines() if "error" in line)
    assert line.startswith("error: cannot write to ")
    assert line.endswith(": File too large; choose another --output")
    assert "Traceback" not in ended.stderr
    return line


@pytest.fixture(scope="module")
def timeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that every command has something to draw of."""
    folder = tmp_path_factory.mktemp("timeline")
    settings = (
        "-s",
        "run.duration=20ms",
        "-s",
        "timeline.bin=1ms",
        "-s",
        "timeline.corruption=5ms",
        "-s",
        "timeline.protection=10ms",
    )
    done = call(folder, "run", "timeline", "-p", "lg", *settings, "--output", "kept")
    assert done.returncode == 0, done.stderr
    return folder / "kept"


@pytest.mark.parametrize("more", [(), ("--csv",)])
@pytest.mark.parametrize("largest_file_bytes", [NOTHING_FITS, TABLES_DO_NOT_FIT])
def test_a_run_is_there_whole_or_not_at_all(
    tmp_path: Path, more: tuple[str, ...], largest_file_bytes: int
) -> None:
    words = ("run", *FLOWS, *more, "--output", "kept")
    refusal(call(tmp_path, *words, largest_file_bytes=largest_file_bytes))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("largest_file_bytes", [NOTHING_FITS, 500])
def test_a_fit_is_there_whole_or_not_at_all(tmp_path: Path, largest_file_bytes: int) -> None:
    (tmp_path / "a.trace").write_text("0001\n" * 1000)
    words = ("fit", "a.trace", "--output", "kept")
    refusal(call(tmp_path, *words, largest_file_bytes=largest_file_bytes))
    assert [path.name for path in tmp_path.iterdir()] == ["a.trace"]


def test_a_sweep_goes_on_when_there_is_room(tmp_path: Path) -> None:
    words = (*SWEPT, "-g", "seed=1,2,3")
    assert call(tmp_path, *SWEPT, "-g", "seed=1,2").returncode == 0
    refusal(call(tmp_path, *words, largest_file_bytes=NOTHING_FITS))
    assert not [path for path in tmp_path.rglob("*") if "partial" in path.name]
    ended = call(tmp_path, *words)
    assert "3 of 3 points, 2 resumed" in ended.stdout, ended.stderr


def test_the_rows_of_a_sweep_are_whole(tmp_path: Path) -> None:
    words = (*SWEPT, "-g", f"seed={','.join(map(str, range(1, 31)))}", "--csv")
    assert call(tmp_path, *words).returncode == 0
    kept = {path: path.read_bytes() for path in (tmp_path / "kept").glob("rows.*")}
    largest_file_bytes = max(
        len((tmp_path / "kept" / "points" / name).read_bytes()) for name in _points(tmp_path)
    )
    assert all(len(content) > largest_file_bytes for content in kept.values()), "too few points"
    refusal(call(tmp_path, *words, largest_file_bytes=largest_file_bytes))
    assert {path: path.read_bytes() for path in (tmp_path / "kept").iterdir() if path in kept} == kept
    assert not [path for path in tmp_path.rglob("*") if "partial" in path.name]


def _points(folder: Path) -> list[str]:
    return [path.name for path in (folder / "kept" / "points").iterdir()]


def test_a_reproduction_goes_on_when_there_is_room(tmp_path: Path) -> None:
    words = ("reproduce", "--quick", "--only", "stress", "--output", "kept")
    refusal(call(tmp_path, *words, largest_file_bytes=TABLES_DO_NOT_FIT))
    assert not [path for path in tmp_path.rglob("*") if "partial" in path.name]
    whole = len(list((tmp_path / "kept" / "points").glob("*.zip")))
    assert call(tmp_path, *words).returncode == 0
    summary = json.loads((tmp_path / "kept" / "reproduce.json").read_text(encoding="utf-8"))
    assert summary["points_resumed"] == whole


@pytest.mark.parametrize(
    "words",
    [
        ("report", "-o", "page.html"),
        ("plot", "-o", "figures"),
        ("plot", "-o", "figures", "--format", "csv,json"),
        ("plot", "-o", "figures", "--format", "flent"),
    ],
)
def test_pages_and_figures_are_there_whole_or_not_at_all(
    tmp_path: Path, timeline: Path, words: tuple[str, ...]
) -> None:
    command, *rest = words
    refusal(call(tmp_path, command, str(timeline), *rest, largest_file_bytes=NOTHING_FITS))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("words", [("--version",), ("list",), ("run", *FLOWS, "--json")])
def test_an_output_that_takes_nothing_is_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "lossylink", *words],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            # With a buffer, as users have it: what is printed reaches the disk when the command ends.
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        )
    assert ended.returncode == FAILED
    line = ended.stderr.splitlines()[-1]
    assert line == "error: cannot write to the standard output: No space left on device; make room for it"
    assert "Exception ignored" not in ended.stderr
