"""Puts the commands together and has Typer choose one; nothing heavy is imported before a command runs."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer  # reads annotations as they stand: postponed ones would be compiled anew for each parameter
from typer.exceptions import Abort, TyperException

from lossylink.cli.exits import MISTAKE, leave
from lossylink.cli.foreign_options import meant_by
from lossylink.cli.plot import KINDS
from lossylink.cli.quick import show_version
from lossylink.declared.experiments import all_experiments
from lossylink.errors import UserError
from lossylink.scenario.packaged import packaged, title_of

#: Where each command lives, in the order in which ``--help`` lists them.
_COMMANDS = {
    "reproduce": "lossylink.cli.reproduce:command",
    "run": "lossylink.cli.run:command",
    "sweep": "lossylink.cli.sweep:command",
    "plot": "lossylink.cli.plot:command",
    "report": "lossylink.cli.report:command",
    "plan": "lossylink.cli.plan:command",
    "measure": "lossylink.cli.measure:measure",
    "fit": "lossylink.cli.fit:command",
    "list": "lossylink.cli.explain:listing",
    "keys": "lossylink.cli.explain:keys",
    "explain": "lossylink.cli.explain:explain",
    "doctor": "lossylink.cli.doctor:command",
    "wire": "lossylink.cli.boxes:wire",
    "restore": "lossylink.cli.boxes:restore",
    "validate": "lossylink.cli.validate:command",
    "virtual": "lossylink.cli.virtual:command",
}
#: Commands whose last words are somebody else's command line.
_TAKES_COMMAND = {"virtual"}
#: Commands that have commands of their own.
_GROUPS = {
    "guard": "lossylink.cli.guard:app",
    "lab": "lossylink.cli.lab:app",
    "kernel": "lossylink.cli.kernel:app",
}


def carry_out(arguments: Sequence[str]) -> int:
    """Have Typer carry out a command line; gives its exit code.

    Raises
    ------
    UserError
        The words are none that a command takes.
    """
    command = build(next(iter(arguments), None), with_epilogs="--help" in arguments)
    try:
        code = command(list(arguments), prog_name="lossylink", standalone_mode=False)
    except Abort:
        raise KeyboardInterrupt from None
    except TyperException as error:
        if not error.format_message():
            return MISTAKE  # no command was given, and the help has been printed
        raise UserError(_usage(error)) from None
    return code if isinstance(code, int) else 0


def _usage(error: TyperException) -> str:
    words = error.format_message().rstrip(".").replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    if context is None:
        return f"{words}; see `lossylink --help`"
    option = getattr(error, "option_name", None)
    own = [name for parameter in context.command.params for name in parameter.opts]
    meant = meant_by(option, own) if option is not None and words.startswith("No such option") else ""
    return f"{words}; {meant or f'see `{context.command_path} --help`'}"


def build(wanted: str | None = None, *, with_epilogs: bool = True) -> typer.Typer:
    """Return the whole command, or as much of it as it takes to carry out the command ``wanted``.

    The signatures of all commands take longer to read than a short run lasts. What stands below the help is
    of no use to a command that runs.
    """
    app = typer.Typer(
        help="A laboratory and a data plane for links that corrupt packets.",
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    is_known = wanted in _COMMANDS or wanted in _GROUPS
    for name, home in _COMMANDS.items():
        if name == wanted or not is_known:
            epilog = _EPILOGS.get(name) if with_epilogs else None
            context = {"allow_interspersed_args": False} if name in _TAKES_COMMAND else None
            app.command(name, epilog=epilog() if epilog else None, context_settings=context)(_found(home))
    for name, home in _GROUPS.items():
        if name == wanted or not is_known:
            app.add_typer(_found(home), name=name)
    return app


def _found(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)


def _list_of_experiments() -> str:
    experiments = [f"`{one.name}`: {one.summary}" for one in all_experiments().values()]
    scenarios = [f"`{name}`: {title_of(path)}" for name, path in packaged().items()]
    return "\n\n".join(["Experiments:", *experiments, "Scenarios:", *scenarios])


def _list_of_kinds() -> str:
    return f"Kinds of figures: {', '.join(KINDS)}"


#: What stands below the help of a command.
_EPILOGS: dict[str, Callable[[], str]] = {"run": _list_of_experiments, "plot": _list_of_kinds}


def _version(wanted: bool) -> None:
    if wanted:
        show_version()
        leave(0)


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """A laboratory and a data plane for links that corrupt packets."""
