"""What commands print: whole lines in a pipe, and on a terminal lines that fit and break no word."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from lossylink.linux.doctor import Finding
from lossylink.planning.prediction import HEADS, KEYS
from lossylink.results.drawn import Drawn, Sentences, show
from lossylink.results.screen import Grid, plain, size

from .conftest import Ended

Command = Callable[..., Ended]
PLAN = ("plan", "--link", "100Gbps", "--loss", "1e-3", "--target", "1e-6")
ALL_KEYS = ("run", "stress", "--all", "-s", "traffic.packets=2000", "-s", "loss=1e-2")
PROTECTIONS = ("none", "lg", "lg-nb", "llr", "fec:25/5", "lg:copies=2,holes=unlimited")
LINKS = """name,rate,length,loss,corrupted,frames
leaf1-spine2,100Gbps,100m,1e-3,,
a-link-with-a-name-of-forty-characters-on,400Gbps,30m,1e-4,,
leaf3-spine1,25Gbps,,,0,1000
"""
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def on_a_terminal(words: Iterable[str], directory: Path, *, columns: int) -> list[str]:
    """Run a command whose standard output is a terminal, and return the lines that it prints."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"} | {"TERM": "xterm"}
    command = [sys.executable, "-m", "lossylink", *words]
    with subprocess.Popen(
        command,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        cwd=directory,
        env=environment,
    ):
        os.close(theirs)
        printed = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return _STYLE.sub("", printed.decode()).splitlines()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


def cells(line: str) -> list[str]:
    """The cells of a line, between which are two blanks at least."""
    return re.split(r" {2,}", line.strip())


def lines_of(name: str, lines: Iterable[str]) -> list[list[str]]:
    return [cells(line) for line in lines if cells(line)[0] == name]


def figures(row: dict[str, Any]) -> list[str]:
    """The figures of a plan's row as the table has them, without their marks."""
    return [f"{row[key]:.4g}" for key in KEYS if row[key] is not None]


@pytest.fixture
def piped(command: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """A command whose output is no terminal, whatever the one in which the tests run."""
    for name in ("COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return command


def test_a_plan_in_a_pipe_has_a_line_for_each_protection(piped: Command) -> None:
    rows = json.loads(piped(*PLAN, "--json").out)["rows"]
    lines = piped(*PLAN).out.splitlines()
    for row in rows:
        (line,) = lines_of(row["protection"], lines)
        assert set(figures(row)) <= {one.split(" ")[-1] for one in line}
        assert row["loss_method"] in line


@pytest.mark.parametrize("columns", [80, 120])
def test_a_plan_on_a_terminal_breaks_no_figure(piped: Command, tmp_path: Path, columns: int) -> None:
    rows = json.loads(piped(*PLAN, "--json").out)["rows"]
    lines = on_a_terminal(PLAN, tmp_path, columns=columns)
    assert max(map(len, lines)) <= columns
    for row in rows:
        shown = [one for line in lines_of(row["protection"], lines) for one in line]
        assert set(figures(row)) <= {one.split(" ")[-1] for one in shown}
        assert row["loss_method"] in shown


def test_a_plan_says_units_in_its_heads(piped: Command) -> None:
    _, labels, units, *_ = piped(*PLAN).out.splitlines()
    assert tuple(HEADS) == KEYS
    for key, (label, unit) in HEADS.items():
        place = [match.end() for match in re.finditer(re.escape(label), labels)]
        assert any(units[:end].endswith(unit) for end in place), key
        assert unit.split()[-1].lower().replace("/s", "ps") in key


@pytest.mark.parametrize("columns", [None, 80, 120])
def test_links_keep_their_names_and_the_words_of_their_reasons(
    piped: Command, tmp_path: Path, columns: int | None
) -> None:
    (tmp_path / "links.csv").write_text(LINKS)
    words = ("plan", "links.csv", "--target", "1e-8")
    verdicts = json.loads(piped(*words, "--json").out)["links"]
    lines = (
        piped(*words).out.splitlines() if columns is None else on_a_terminal(words, tmp_path, columns=columns)
    )
    for one in verdicts:
        shown = lines_of(one["name"], lines)
        assert any(one["action"] in line for line in shown)
        assert columns is not None or any(one["reason"] in line for line in shown)
    said = " ".join(" ".join(lines).split())
    assert all(word in said.split() for one in verdicts for word in one["reason"].split())
    assert columns is None or max(map(len, lines)) <= columns


@pytest.mark.parametrize("columns", [None, 80, 120])
def test_every_key_and_every_figure_is_whole(piped: Command, tmp_path: Path, columns: int | None) -> None:
    words = (*ALL_KEYS, *(word for one in PROTECTIONS for word in ("-p", one)))
    rows = json.loads(piped(*words, "--json").out)["rows"]
    if columns is None:
        lines = piped(*words).out.splitlines()
    else:
        lines = on_a_terminal(words, tmp_path, columns=columns)
    assert not any("…" in line for line in lines)
    heads = [one for line in lines if set(cells(line)) <= {*PROTECTIONS, ""} for one in cells(line)]
    assert sorted(one for one in heads if one) == sorted(PROTECTIONS)
    for key in rows[0].keys() - {"protection", "packets_per_wall_second"}:
        shown = [one for line in lines_of(key, lines) for one in line[1:]]
        assert len(shown) == len(PROTECTIONS), key
    sent = [one for line in lines_of("packets_sent", lines) for one in line[1:]]
    assert sent == [f"{row['packets_sent']:,}" for row in rows]


def test_a_short_table_in_a_pipe_leaves_no_column_out(piped: Command) -> None:
    words = (
        "run",
        "stress",
        "-p",
        "none",
        "-p",
        "lg:copies=2",
        "-s",
        "traffic.packets=2000",
        "-s",
        "loss=1e-2",
    )
    ended = piped(*words)
    assert "reordered" in ended.out.splitlines()[1]
    assert "did not fit" not in ended.out


def test_what_the_machine_can_do_stands_in_a_line_each(piped: Command) -> None:
    findings = json.loads(piped("doctor", "--json").out)["findings"]
    lines = [cells(line) for line in piped("doctor").out.splitlines()]
    for one in (Finding(**finding) for finding in findings):
        assert [word for word in (one.state, one.what, one.found, one.mend) if word] in lines


def test_a_command_in_a_sentence_is_not_broken() -> None:
    """The list of experiments that did not run is longer than a narrow terminal is wide."""
    names = ",".join(f"experiment-{number}" for number in range(12))
    console = Console(file=io.StringIO(), width=40, color_system=None)
    show(
        console, f"To run them: lossylink reproduce --only {names}", Sentences(Text(f"see {names}"), indent=1)
    )
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "To run them: lossylink reproduce --only",
        names,
        " see",
        f" {names}",
    ]


words = st.text("abcdefg=:,.0123456789", min_size=1, max_size=12)


@given(
    rows=st.lists(st.lists(words, min_size=4, max_size=4), min_size=1, max_size=5),
    sentence=st.lists(words, min_size=1, max_size=20),
    keys=st.integers(1, 3),
    joined=st.frozensets(st.integers(0, 3)),
    width=st.integers(1, 120),
)
def test_no_cell_is_ever_broken(
    rows: list[list[str]], sentence: list[str], keys: int, joined: frozenset[int], width: int
) -> None:
    lines = [[*row, " ".join(sentence)] for row in rows]
    heads = [["one", "two", "three", "four", "why"]]
    grid = Grid(heads, lines, keys=keys, joined=joined, has_sentences=True)
    shown = " ".join(plain(grid, width)).split()
    assert all(shown.count(word) >= sum(row.count(word) for row in rows) for row in rows for word in row)
    assert all(word in shown for word in sentence)
    assert len(plain(grid)) == 1 + len(rows)
    if size(grid) <= width:
        assert plain(grid, width) == plain(grid)


def test_an_interval_stays_beside_its_figure() -> None:
    grid = Grid(
        [["", "speed", "p99", "interval"]], [["lg", "91.2", "209", "200..210"]], joined=frozenset({3})
    )
    assert plain(grid, 23) == ["    speed", "lg   91.2", "", "    p99  interval", "lg  209  200..210"]
    assert plain(grid, 24) == plain(grid) == ["    speed  p99  interval", "lg   91.2  209  200..210"]


@pytest.mark.parametrize("width", [30, 50, 100])
def test_rich_draws_the_lines_that_a_file_gets(width: int) -> None:
    rows = [
        ["lg", "91.2", "holds frames back"],
        ["lg-nb", "99.6", "delivers out of order, as transports see"],
    ]
    grid = Grid([["protection", "speed", "why"]], rows, has_sentences=True, styles={"lg": "red"})
    console = Console(file=io.StringIO(), width=width, force_terminal=True)
    show(console, Drawn(grid))
    assert isinstance(console.file, io.StringIO)
    drawn = console.file.getvalue()
    assert "\x1b[" in drawn
    assert _STYLE.sub("", drawn).splitlines() == plain(grid, width)
