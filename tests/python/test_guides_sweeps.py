"""The guide to sweeps: its block and its recipe work, and its limits are those of the code."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars
import pytest

from lossylink.declared.protections import parse_protection
from lossylink.running.sweeping import executors
from lossylink.running.sweeping.driving import ATTEMPTS
from lossylink.running.sweeping.executors._declaration import Workers
from lossylink.running.sweeping.executors.slurm import ARRAY_TASKS, DEFAULTS
from lossylink.running.sweeping.grid import MAX_POINTS, parse_grid, ranged
from lossylink.running.sweeping.result import DRAWN_POINTS
from lossylink.running.sweeping.running import TASKS_PER_WORKER
from lossylink.running.sweeping.shards import SHARD_SECONDS
from lossylink.running.sweeping.until import MOST_TIMES

from .conftest import Ended

Command = Callable[..., Ended]

GUIDE = (Path(__file__).resolve().parents[2] / "docs/guides/sweeps.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n((?:.|\n)*?)^```$", GUIDE, re.MULTILINE)
    return str(text)


def test_the_block_for_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(block("python"), "guide", "exec"), names)
    frame = names["swept"].frame
    assert frame.height == 4
    assert frame["until_met"].all()
    assert frame["packets_sent"][0] > frame["packets_sent"][3], "easy points stop early"


def test_the_grids_of_the_guide_are_read() -> None:
    """Each command passes a shell, which takes a backslash outside quotes away."""
    commands = re.findall(r"^lossylink sweep (.*?) ?\\?$", GUIDE, re.MULTILINE)
    assert len(commands) >= 3
    for words in map(shlex.split, commands):
        grid = parse_grid([word for option, word in pairwise(words) if option in {"-g", "--zip"}])
        for protection in grid.get("protection", []):
            assert parse_protection(protection)


def test_the_recipe_for_snakemake_works(tmp_path: Path, command: Command) -> None:
    """By Snakemake where it is; else its rules are carried out by hand, in their order."""
    recipe = block("snakemake")
    if shutil.which("snakemake"):
        (tmp_path / "Snakefile").write_text(recipe)
        subprocess.run(["snakemake", "--cores", "2"], cwd=tmp_path, check=True, capture_output=True)
    else:
        run, plot = re.findall(r'shell: "lossylink (.*)"', recipe)
        losses = re.findall(r'"(1e-\d)"', recipe)
        for loss in losses:
            words = run.replace("{wildcards.loss}", loss).replace("{output}", f"results/{loss}")
            assert command(*shlex.split(words)).code == 0
        inputs = " ".join(f"results/{loss}" for loss in losses)
        ended = command(*shlex.split(plot.replace("{input}", inputs).replace("{output}", "figures")))
        assert ended.code == 0, ended.err
    assert (tmp_path / "figures" / "goodput.svg").is_file()


def test_the_guide_names_every_executor() -> None:
    for name in executors.names():
        assert f"| `{name}` | " in GUIDE


def test_the_limits_are_those_of_the_code() -> None:
    text = " ".join(GUIDE.split())
    assert f"A sweep has {MAX_POINTS:,} points at most" in text
    assert f"up to {DRAWN_POINTS} points" in text
    assert f"`max`, which is {MOST_TIMES} times the own amount" in text
    assert f"array jobs of up to {ARRAY_TASKS} tasks" in text
    assert f"one core for at most {DEFAULTS['timeout_min']} minutes" in text
    assert f"and {DEFAULTS['slurm_array_parallelism']} tasks run at a time" in text
    assert f"The number of tasks is {TASKS_PER_WORKER} times the number that runs at a time" in text
    assert f"in groups of up to {Workers(submit=lambda _tasks: [], count=1).most_points}" in text
    assert ATTEMPTS == 3
    assert "When workers die three times" in text
    assert SHARD_SECONDS == 1
    assert len(ranged("1e-6..1e-2:log9")) == 9


def test_the_table_shows_the_latest_rows() -> None:
    from rich.console import Console

    from lossylink.cli.runs.live_table import ROWS, LiveTable

    console = Console(width=60, record=True, force_terminal=True, file=sys.stderr)
    live = LiveTable(["seed"], console)
    live.progress(12, 40)
    rows = [{"seed": seed, "protection": "lg", "effective_loss_rate": seed / 1e3} for seed in range(12)]
    live.watch("stress", rows)
    console.print(live.drawn())
    live.close()
    shown = console.export_text()
    assert "12/40 points" in shown
    assert f"{11 / 1e3:g}" in shown
    seeds = [int(line.split()[0]) for line in shown.splitlines() if line.split()[0].isdigit()]
    assert seeds == list(range(12 - ROWS, 12))


def test_the_table_is_shown_on_a_terminal(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the sweep is of a file, whose name is no experiment's."""
    shown: list[Any] = []
    monkeypatch.setattr("lossylink.cli.runs.live_table.QUIET_SECONDS", 0.0)
    monkeypatch.setattr("rich.live.Live.update", lambda _live, drawn, **_: shown.append(drawn))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    (tmp_path / "mine.toml").write_text('experiment = "stress"\n[traffic]\npackets = 500\n')
    ended = command("sweep", "mine.toml", "-g", "seed=1..3", "-p", "lg", "--output", "kept", "--threads", "1")
    assert ended.code == 0, ended.err
    assert any(len(one.renderables) == 2 for one in shown), "a table above the bar"


def test_the_rows_of_the_dictionary_are_those_of_a_sweep(tmp_path: Path, command: Command) -> None:
    dictionary = (Path(__file__).resolve().parents[2] / "docs/data-dictionary.md").read_text(encoding="utf-8")
    section = dictionary.split("## Rows of a sweep\n")[1].split("\n## ")[0]
    keys = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    words = ("-g", "seed=1", "-p", "lg", "-s", "traffic.packets=500", "--until", "rel=50%@95%,max=1000")
    assert command("sweep", "stress", *words, "--output", "kept").code == 0
    columns = polars.read_parquet(tmp_path / "kept" / "rows.parquet").columns
    assert {name for name in columns if name.startswith("until")} == keys - {"error"}
