"""The words in which commands are declared: click's, with our help."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, TypeVar

import click

from lossylink.cli.options.kinds import TEXT

Function = TypeVar("Function", bound=Callable[..., Any])


class Decorator(Protocol):
    """Adds an option or an argument to the function of a command."""

    def __call__(self, function: Function, /) -> Function:
        """Return the function, with what is declared."""


class Command(click.Command):
    """A command; ``below`` gives what stands below its help."""

    def __init__(self, *arguments: Any, below: Callable[[], str] | None = None, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.below = below

    def get_help(self, ctx: click.Context) -> str:
        """Return the page of help."""
        from lossylink.cli.options.help import page  # rich takes longer to load than a short run lasts

        return page(self, ctx, below=self.below() if self.below is not None else "")


class Group(Command, click.Group):
    """A command that has commands, which its help lists in the order of their declaration."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(self.commands)


class Homes(UserDict[str, Any]):
    """Commands by name, each imported from its home, ``MODULE:NAME``, when it is asked for.

    The declarations of all commands take longer to load than a short run lasts.
    """

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = super().__getitem__(name).partition(":")
        return getattr(import_module(module), attribute)


def option(*words: str, kind: click.ParamType[Any] | None = None, **attributes: Any) -> Decorator:
    """Declare an option with a value, which is a text if no ``kind`` is given."""
    return click.option(*words, type=kind or TEXT, **attributes)


def flag(*words: str, **attributes: Any) -> Decorator:
    """Declare an option without a value."""
    return click.option(*words, is_flag=True, **attributes)


def argument(name: str, kind: click.ParamType[Any] | None = None, **attributes: Any) -> Decorator:
    """Declare an argument, which is a text if no ``kind`` is given."""
    return click.argument(name, cls=_Argument, type=kind or TEXT, **attributes)


def given_options(context: click.Context) -> set[str]:
    """Return the names of what the user has given on the command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is click.core.ParameterSource.COMMANDLINE}


class _Argument(click.Argument):
    """An argument that help and mistakes call as its declaration does."""

    def make_metavar(self, ctx: click.Context) -> str:  # noqa: ARG002
        """Return how the line of usage shows the argument."""
        shown = self.metavar or self.name
        return (f"{{{shown}}}" if self.required else f"[{shown}]") + ("..." if self.nargs != 1 else "")

    def get_error_hint(self, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return how a mistake calls the argument."""
        return f"'{self.metavar or self.name}'"
