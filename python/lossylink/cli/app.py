"""Puts the commands together; nothing heavy is imported before a command runs."""

from __future__ import annotations

from typing import Annotated

import typer

from lossylink.cli import doctor, explain, measure, plan, plot, report, reproduce, run, sweep
from lossylink.cli.exits import leave
from lossylink.experiments import EXPERIMENTS
from lossylink.lab import boxes, guard_cli, validation
from lossylink.lab import cli as lab
from lossylink.scenario.packaged import packaged, title_of


def build() -> typer.Typer:
    """Return the whole command."""
    app = typer.Typer(
        help="A laboratory and a data plane for links that corrupt packets.",
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    app.command("reproduce")(reproduce.command)
    app.command("run", epilog=_list_of_experiments())(run.command)
    app.command("sweep")(sweep.command)
    app.command("plot", epilog=_list_of_kinds())(plot.command)
    app.command("report")(report.command)
    app.command("plan")(plan.command)
    app.command("measure")(measure.measure)
    app.command("fit")(measure.fit)
    app.command("list")(explain.listing)
    app.command("keys")(explain.keys)
    app.command("explain")(explain.explain)
    app.command("doctor")(doctor.command)
    app.command("wire")(boxes.wire)
    app.command("restore")(boxes.restore)
    app.command("validate")(validation.command)
    app.add_typer(guard_cli.app, name="guard")
    app.add_typer(lab.app, name="lab")
    return app


def _list_of_experiments() -> str:
    experiments = [f"`{one.name}`: {one.summary}" for one in EXPERIMENTS.values()]
    scenarios = [f"`{name}`: {title_of(path)}" for name, path in packaged().items()]
    return "\n\n".join(["Experiments:", *experiments, "Scenarios:", *scenarios])


def _list_of_kinds() -> str:
    return f"Kinds of figures: {', '.join(plot.KINDS)}"


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
