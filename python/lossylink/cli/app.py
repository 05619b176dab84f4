"""Puts the commands together; nothing heavy is imported before a command runs."""

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer  # reads annotations as they stand: postponed ones would be compiled anew for each parameter

from lossylink.cli.exits import leave
from lossylink.experiments import EXPERIMENTS
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
    "fit": "lossylink.cli.measure:fit",
    "list": "lossylink.cli.explain:listing",
    "keys": "lossylink.cli.explain:keys",
    "explain": "lossylink.cli.explain:explain",
    "doctor": "lossylink.cli.doctor:command",
    "wire": "lossylink.lab.boxes:wire",
    "restore": "lossylink.lab.boxes:restore",
    "validate": "lossylink.cli.validate:command",
    "virtual": "lossylink.cli.virtual:command",
}
#: Commands whose last words are somebody else's command line.
_TAKES_COMMAND = {"virtual"}
#: Commands that have commands of their own.
_GROUPS = {
    "guard": "lossylink.lab.guard_cli:app",
    "lab": "lossylink.lab.cli:app",
    "kernel": "lossylink.cli.kernel:app",
}


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
    experiments = [f"`{one.name}`: {one.summary}" for one in EXPERIMENTS.values()]
    scenarios = [f"`{name}`: {title_of(path)}" for name, path in packaged().items()]
    return "\n\n".join(["Experiments:", *experiments, "Scenarios:", *scenarios])


def _list_of_kinds() -> str:
    from lossylink.cli.plot import KINDS

    return f"Kinds of figures: {', '.join(KINDS)}"


#: What stands below the help of a command.
_EPILOGS: dict[str, Callable[[], str]] = {"run": _list_of_experiments, "plot": _list_of_kinds}


def _show_version(wanted: bool) -> None:
    if wanted:
        from lossylink import _native  # only for this option

        print(f"lossylink {_native.version()} ({_native.commit()})")
        leave(0)


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A laboratory and a data plane for links that corrupt packets."""
