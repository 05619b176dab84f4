"""Finds the command that a command line names, carries it out, and says what is wrong with its words."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import click
from click.exceptions import Exit, NoArgsIsHelpError, NoSuchOption

from lossylink import _native
from lossylink.cli.exits import MISTAKE
from lossylink.cli.options import completion
from lossylink.cli.options.declaring import Group, Homes, flag
from lossylink.cli.options.foreign_options import meant_by
from lossylink.errors import UserError

#: Where each command lives, in the order in which ``--help`` lists them.
_HOMES = {
    "reproduce": "lossylink.cli.reproduce:command",
    "run": "lossylink.cli.runs.run:command",
    "sweep": "lossylink.cli.runs.sweep:command",
    "plot": "lossylink.cli.plot:command",
    "report": "lossylink.cli.report:command",
    "plan": "lossylink.cli.plans.plan:command",
    "explore": "lossylink.cli.explore:command",
    "measure": "lossylink.cli.measures.measure:measure",
    "fit": "lossylink.cli.measures.fit:command",
    "list": "lossylink.cli.explain:listing",
    "keys": "lossylink.cli.explain:keys",
    "explain": "lossylink.cli.explain:explain",
    "doctor": "lossylink.cli.doctor:command",
    "wire": "lossylink.cli.guards.boxes:wire",
    "restore": "lossylink.cli.guards.boxes:restore",
    "validate": "lossylink.cli.validate:command",
    "virtual": "lossylink.cli.virtual:command",
    "guard": "lossylink.cli.guards.guard:guard",
    "lab": "lossylink.cli.lab:app",
    "kernel": "lossylink.cli.kernel:app",
}


def carry_out(arguments: Sequence[str]) -> int:
    """Carry out a command line, or complete it for a shell; gives the exit code.

    Raises
    ------
    UserError
        The words are none that a command takes.
    """
    if os.environ.get(completion.VARIABLE):
        return completion.answer(app)
    try:
        with app.make_context(completion.NAME, list(arguments)) as context:
            app.invoke(context)
    except Exit as end:
        return end.exit_code
    except NoArgsIsHelpError as error:
        click.echo(error.message)
        return MISTAKE
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.UsageError as error:
        raise UserError(_usage(error)) from None
    return 0


def _usage(error: click.UsageError) -> str:
    words = error.format_message().rstrip(".")
    if error.ctx is None:
        return f"{words}; see `lossylink --help`"
    mend = f"see `{error.ctx.command_path} --help`"
    if isinstance(error, NoSuchOption):
        words = f"No such option: {error.option_name}"
        if error.possibilities:
            words += f" (Possible options: {', '.join(sorted(error.possibilities))})"
        own = [word for parameter in error.ctx.command.params for word in parameter.opts]
        mend = meant_by(error.option_name, own) or mend
    return f"{words}; {mend}"


def _and_end(do: Callable[[click.Command], None]) -> Callable[..., None]:
    """Return the callback of an option that does something in place of a command."""

    def callback(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:  # noqa: ARG001
        if wanted and not context.resilient_parsing:
            do(context.command)
            context.exit()

    return callback


def _show_version(app: click.Command) -> None:  # noqa: ARG001
    print(f"lossylink {_native.version()} ({_native.commit()})")


@click.group("lossylink", cls=Group, commands=Homes(_HOMES), no_args_is_help=True)
@flag(
    "--version",
    is_eager=True,
    expose_value=False,
    callback=_and_end(_show_version),
    help="Print the version.",
)
@flag(
    "--install-completion",
    is_eager=True,
    expose_value=False,
    callback=_and_end(completion.install),
    help="Install completion for the current shell.",
)
@flag(
    "--show-completion",
    is_eager=True,
    expose_value=False,
    callback=_and_end(completion.show),
    help="Show completion for the current shell, to copy it or customize the installation.",
)
def app() -> None:
    """A laboratory and a data plane for links that corrupt packets."""
