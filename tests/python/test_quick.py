"""Command lines without Typer: argparse takes what Typer takes, and leaves the rest to it."""

from __future__ import annotations

import inspect
from argparse import Action
from collections.abc import Callable
from typing import Any

import pytest
import typer

from lossylink.cli import running
from lossylink.cli.app import build
from lossylink.cli.quick import parser, read

from .conftest import Ended

Command = Callable[..., Ended]


def by_typer() -> dict[str, Any]:
    """The options of ``lossylink run`` as Typer has them, by name."""
    command: Any = typer.main.get_command(build("run"))
    return {one.name: one for one in command.commands["run"].params}


def by_argparse() -> dict[str, Action]:
    return {one.dest: one for one in parser()._actions}


def test_both_have_the_same_options() -> None:
    assert list(by_argparse()) == list(by_typer()) == list(inspect.signature(running.carry_out).parameters)


@pytest.mark.parametrize("name", by_typer())
def test_an_option_is_written_and_read_alike(name: str) -> None:
    typers, ours = by_typer()[name], by_argparse()[name]
    words = list(ours.option_strings)
    if not words:  # the experiment
        assert typers.param_type_name == "argument"
        return
    assert words == typers.opts
    assert (type(ours).__name__ == "_AppendAction") == typers.multiple
    assert (type(ours).__name__ == "_StoreTrueAction") == typers.is_flag
    assert typers.secondary_opts == []


@pytest.mark.parametrize(
    "words",
    [
        ("stress", "-p", "lg", "-plg-nb", "--set", "loss=1e-3", "--set=seed=2", "--seed", "7", "--json"),
        ("--rare", "stress", "--threads=2", "--output", "kept", "--state-at", "1ms", "--state-at", "2ms"),
        ("mathis", "--trap", "queue", "--backend", "sim", "--all", "--csv", "--strict", "--pcap", "a=b"),
        ("--json", "--", "stress"),
    ],
)
def test_words_mean_the_same_to_both(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[dict[str, Any]] = []

    def hear(experiment: str, **options: Any) -> None:
        heard.append({"experiment": experiment} | options)

    monkeypatch.setattr("lossylink.cli.run.carry_out", hear)
    command: Any = typer.main.get_command(build("run"))
    command(["run", *words], standalone_mode=False)
    defaults = {name: one.default for name, one in inspect.signature(running.carry_out).parameters.items()}
    assert [defaults | (read(words) or {})] == heard


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("stress", "--sed", "1"),
        ("stress", "--see", "1"),
        ("stress", "--seed", "1.5"),
        ("stress", "--seed"),
        ("stress", "more"),
        ("stress", "--json=yes"),
    ],
)
def test_strange_words_are_left_to_typer(words: tuple[str, ...]) -> None:
    assert read(words) is None
