"""Puts the commands together; nothing heavy is imported before a command runs."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from lossylink.cli import doctor, leave, plan, reproduce, run, sweep

#: Groups of commands that live with what they command, each module with a Typer app called ``app``.
_GROUPS = {"lab": "lossylink.lab.cli"}


def build() -> typer.Typer:
    """Return the whole command."""
    app = typer.Typer(
        help="A laboratory and a data plane for links that corrupt packets.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    app.command("reproduce")(reproduce.command)
    app.command("run")(run.command)
    app.command("sweep")(sweep.command)
    app.command("plan")(plan.command)
    app.command("doctor")(doctor.command)
    for name, command in _live_commands():
        app.command(name)(command)
    for name, module in _GROUPS.items():
        if _exists(module):
            app.add_typer(importlib.import_module(module).app, name=name)
    return app


def _live_commands() -> Iterator[tuple[str, Callable[..., None]]]:
    """Yield the commands of the live data plane, where it is installed."""
    if _exists("lossylink.lab.boxes"):
        from lossylink.lab import boxes, validation  # light: what is heavy is imported by the commands

        yield "guard", boxes.guard
        yield "wire", boxes.wire
        yield "validate", validation.command


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _show_version(wanted: bool) -> None:
    if wanted:
        from lossylink import _native  # only for this option

        print(f"lossylink {_native.version()}")
        leave(0)


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A laboratory and a data plane for links that corrupt packets."""
