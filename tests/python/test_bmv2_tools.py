"""Finding the P4 compiler and compiling with it: once for each source, and without a warning."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lossylink._package.resources import P4
from lossylink.errors import RunError, UserError
from lossylink.linux.bmv2 import sources, tools

#: Says its version as p4c does; else notes that it was called, and does what the test put before.
FAKE = """#!/bin/sh
here=$(dirname "$0")
if [ "$1" = --version ]; then echo "$0"; echo "Version 1.2.5 (SHA: 123 BUILD: Release)"; exit; fi
echo "$1" >> "$here/calls"
cp "$1" "$3"
[ ! -e "$here/behaviour" ] || . "$here/behaviour"
"""


class Compiler:
    """A compiler that copies its source."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        self.path = self.bin / tools.COMPILER
        self.path.write_text(FAKE)
        self.path.chmod(0o755)

    def does(self, script: str) -> None:
        (self.bin / "behaviour").write_text(script)

    @property
    def calls(self) -> int:
        calls = self.bin / "calls"
        return len(calls.read_text().splitlines()) if calls.exists() else 0


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    monkeypatch.setenv(tools.VARIABLE, str(tmp_path / "tools"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Compiler(tmp_path / "tools")


def test_the_folder_comes_before_the_path(
    compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Compiler(tmp_path / "other")
    monkeypatch.setenv("PATH", str(other.bin), prepend=os.pathsep)
    assert tools.find(tools.COMPILER) == compiler.path
    monkeypatch.delenv(tools.VARIABLE)
    assert tools.find(tools.COMPILER) == other.path
    monkeypatch.setenv(tools.VARIABLE, str(tmp_path / "empty"))
    assert tools.find(tools.COMPILER) == other.path


@pytest.mark.parametrize("script", ["exit 127", "exit 0"])
def test_a_tool_that_does_not_start_is_one_line(compiler: Compiler, script: str) -> None:
    compiler.path.write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(UserError, match="does not say its version: run") as error:
        tools.version(tools.COMPILER)
    assert "\n" not in str(error.value)


def test_a_missing_tool_is_said_with_the_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(tools.VARIABLE, raising=False)
    with pytest.raises(UserError) as error:
        tools.find(tools.SWITCH)
    assert str(error.value).startswith("simple_switch is not in the PATH: ")
    assert f"{tools.VARIABLE}=FOLDER" in str(error.value)
    monkeypatch.setenv(tools.VARIABLE, str(tmp_path / "there"))
    with pytest.raises(UserError) as error:
        tools.find(tools.SWITCH)
    assert str(error.value).startswith(f"simple_switch is not in {tmp_path}/there/bin or in the PATH: ")
    assert "\n" not in str(error.value)


def test_the_version_is_said_without_the_path(compiler: Compiler) -> None:
    assert tools.version(tools.COMPILER) == "1.2.5 (SHA: 123 BUILD: Release)"


def test_a_program_is_compiled_once(compiler: Compiler) -> None:
    first = tools.compiled("linkguardian")
    assert first.read_text() == sources.program("linkguardian").read_text()
    assert (tools.compiled("linkguardian"), compiler.calls) == (first, 1)
    assert [file.name for file in tools.cache_folder().iterdir()] == [first.name]


def test_another_compiler_compiles_anew(compiler: Compiler) -> None:
    first = tools.compiled("linkguardian")
    os.utime(compiler.path, ns=(0, 0))
    assert tools.compiled("linkguardian") != first
    assert compiler.calls == 2


def test_a_change_of_any_source_compiles_anew(
    compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "p4"
    shutil.copytree(P4, copy)
    monkeypatch.setattr(tools, "P4", copy)
    monkeypatch.setattr(sources, "P4", copy)
    first = tools.compiled("linkguardian")
    with (copy / "common" / "ethernet.p4").open("a") as file:
        file.write("\n")
    second = tools.compiled("linkguardian")
    assert second != first
    (copy / "common" / "ethernet.p4").rename(copy / "common" / "other.p4")
    assert tools.compiled("linkguardian") not in {first, second}, "the name of a file does not count"
    assert compiler.calls == 3


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'a.p4(3): warning: unused' >&2; echo '  here' >&2", "a.p4(3): warning: unused here"),
        ("echo 'a.p4(3): error: no'; exit 1", "a.p4(3): error: no"),
        ("exit 3", "exit code 3"),
    ],
)
def test_what_a_compiler_says_is_an_error(compiler: Compiler, script: str, words: str) -> None:
    compiler.does(script)
    with pytest.raises(RunError) as error:
        tools.compiled("linkguardian")
    assert str(error.value) == f"{tools.COMPILER} {sources.program('linkguardian')}: {words}"
    assert list(tools.cache_folder().iterdir()) == [], "a program that does not count is kept"


def test_a_mended_program_is_compiled_again(compiler: Compiler) -> None:
    compiler.does("exit 1")
    with pytest.raises(RunError):
        tools.compiled("linkguardian")
    compiler.does("true")
    assert tools.compiled("linkguardian").exists()
    assert compiler.calls == 2
