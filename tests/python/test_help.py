"""Every command says what it is for, and shows examples that work."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lossylink._package.resources import SCENARIOS
from lossylink.cli.app import app

from .conftest import Ended

Command = Callable[..., Ended]

#: Commands whose examples need nothing but this machine, and end by themselves.
HARMLESS = {"run", "sweep", "plan", "list", "keys", "explain", "doctor"}
#: Words of examples that ask for long work, and words in their place that ask for less of it.
SMALLER = {
    "flow.trials=2000": "flow.trials=50",
    "seed=1..20": "seed=1,2",
    "max=20k": "max=100",
    "packets=1M": "packets=20k",
    "--rare": "--rare --set run.looks=500",
    "web-search": "rpc",
    "pods=261": "pods=4",
}


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with the words that call it."""
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            if one.invoke_without_command:
                yield (*path, name), one
            yield from commands(one, (*path, name))
        else:
            yield (*path, name), one


COMMANDS = dict(commands(app))


def examples(path: tuple[str, ...]) -> list[str]:
    """The examples of a command's help."""
    return re.findall(r"^ {4,}lossylink (.+)$", COMMANDS[path].help or "", re.MULTILINE)


EXAMPLES = [(path, words) for path in COMMANDS for words in examples(path)]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_shows_an_example_of_itself(path: tuple[str, ...], command: Command) -> None:
    assert examples(path)
    assert all(words.startswith(" ".join(path)) for words in examples(path))
    ended = command(*path, "--help")
    assert ended.code == 0
    assert "Examples" in ended.out


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_o_means_output(path: tuple[str, ...]) -> None:
    for parameter in COMMANDS[path].params:
        assert ("-o" in parameter.opts) == ("--output" in parameter.opts)


def test_commands_that_write_a_result_take_an_output() -> None:
    taking = {path for path, one in COMMANDS.items() if any("-o" in option.opts for option in one.params)}
    assert taking == {(name,) for name in ("reproduce", "run", "sweep", "plot", "report", "measure", "fit")}


@pytest.mark.parametrize("words", [("run", "stress"), ("sweep", "stress", "-g", "seed=1,2")])
def test_o_names_the_directory(words: tuple[str, ...], command: Command, tmp_path: Path) -> None:
    ended = command(*words, "-p", "lg", "-s", "traffic.packets=500", "-o", "kept")
    assert ended.code == 0, ended.err
    assert (tmp_path / "kept" / "manifest.json").is_file()


@pytest.mark.parametrize(("path", "words"), EXAMPLES, ids=[words for _, words in EXAMPLES])
def test_an_example_is_understood(path: tuple[str, ...], words: str) -> None:
    arguments = shlex.split(words)[len(path) :]
    COMMANDS[path].make_context("lossylink", arguments)  # raises on a mistake


@pytest.mark.parametrize("words", [words for path, words in EXAMPLES if path[0] in HARMLESS])
def test_an_example_works(words: str, command: Command, tmp_path: Path) -> None:
    scenario = (SCENARIOS / "stress.toml").read_text().replace("100_000_000", "20_000")
    (tmp_path / "my-link.toml").write_text(scenario)
    (tmp_path / "links.csv").write_text("name,rate,corrupted,received\na,100Gbps,1200,3000000\n")
    shutil.copy(Path(__file__).with_name("samples") / "iperf3-tcp.json", tmp_path / "iperf3.json")
    for large, small in SMALLER.items():
        words = words.replace(large, small)
    ended = command(*shlex.split(words))
    assert ended.code == 0, ended.err
    assert ended.out


def test_what_is_made_smaller_stands_in_examples() -> None:
    assert [large for large in SMALLER if not any(large in words for _, words in EXAMPLES)] == []


@pytest.mark.parametrize("words", [(), ("lab",)], ids=["lossylink", "lossylink lab"])
def test_without_a_command_there_is_the_help_alone(words: tuple[str, ...], command: Command) -> None:
    ended = command(*words)
    assert (ended.code, ended.err) == (2, "")
    assert "Commands" in ended.out
