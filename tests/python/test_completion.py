"""Completion of words: the shell's script, its installation, and what a shell is answered."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lossylink.cli.options import completion

from .conftest import Ended

Run = Callable[..., Ended]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory, and a shell of the user that no process beside the tests decides."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(completion, "_shell", lambda: "fish")
    return home


def answered(words: str, place: int) -> list[str]:
    """What a shell is answered that completes one of some words."""
    asked = {"_LOSSYLINK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    done = subprocess.run(
        [sys.executable, "-m", "lossylink"],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "place", "completed"),
    [
        ("lossylink re", 1, ["plain,reproduce", "plain,report", "plain,restore"]),
        ("lossylink run stress --se", 3, ["plain,--set", "plain,--seed"]),
        ("lossylink kernel st", 2, ["plain,status"]),
        ("lossylink validate --backend k", 3, ["plain,kernel"]),
        ("lossylink run my-li", 2, ["file,my-li"]),
        ("lossylink run stress --output ke", 4, ["file,ke"]),
        ("lossylink guard --config nowhere.toml --na", 4, ["plain,--name"]),
    ],
)
def test_a_shell_is_answered(words: str, place: int, completed: list[str]) -> None:
    assert answered(words, place) == completed


def test_the_script_is_shown_and_installed(home: Path, command: Run) -> None:
    shown = command("--show-completion")
    assert shown.code == 0
    assert "_LOSSYLINK_COMPLETE=fish_complete" in shown.out
    installed = command("--install-completion")
    script = home / ".config/fish/completions/lossylink.fish"
    assert installed.out.splitlines()[0] == f"fish completion installed in {script}"
    assert script.read_text() == shown.out


@pytest.mark.parametrize(
    ("shell", "place", "own", "line"),
    [
        ("bash", ".bash_completions/lossylink.sh", ".bashrc", "source '{script}'"),
        ("zsh", ".zfunc/_lossylink", ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
    ],
)
def test_a_shell_is_told_once_where_its_script_is(
    shell: str,
    place: str,
    own: str,
    line: str,
    home: Path,
    command: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(completion, "_shell", lambda: shell)
    (home / own).write_text("export A=1")
    for _ in range(2):
        assert command("--install-completion").code == 0
    script = home / place
    assert f"{shell}_complete" in script.read_text()
    assert (home / own).read_text() == f"export A=1\n{line.format(script=script)}\n"


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is missing; apt install bash")
def test_bash_takes_what_is_installed(home: Path, command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "_shell", lambda: "bash")
    assert command("--install-completion").code == 0
    words = f"source {home / '.bashrc'}; complete -p lossylink"
    done = subprocess.run(["bash", "--norc", "-c", words], capture_output=True, text=True, check=True)
    assert "-F _lossylink_completion lossylink" in done.stdout


def test_a_home_that_cannot_be_written_is_a_mistake_of_one_line(home: Path, command: Run) -> None:
    (home / ".config").write_text("a file")
    ended = command("--install-completion")
    assert (ended.code, ended.err.count("\n")) == (2, 1)


@pytest.mark.parametrize(("shell", "found"), [("/usr/bin/zsh", "zsh"), ("/bin/bash", "bash")])
def test_the_users_own_shell_decides_where_no_shell_has_started_lossylink(
    shell: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getppid", os.getpid)
    monkeypatch.setenv("SHELL", shell)
    assert completion._shell() == found


def test_another_shell_is_refused(command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getppid", os.getpid)
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    ended = command("--show-completion")
    assert ended.code == 2
    assert "words are completed in bash, zsh, fish" in ended.err
