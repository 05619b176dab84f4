"""``lossylink sweep``: a grid of settings, by any executor, resumed where it was left."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lossylink._package.writing import output_to, whole
from lossylink.cli.exits import FAILED, INTERRUPTED, leave
from lossylink.cli.options.declaring import Command, argument, flag, option
from lossylink.cli.options.kinds import PATH, WHOLE
from lossylink.cli.runs.running import parse_settings
from lossylink.cli.runs.tables import show_rows
from lossylink.errors import UserError
from lossylink.results.directory import write_csv

if TYPE_CHECKING:
    from lossylink.running.sweeping import Sweep

#: Errors of points that are shown; the rows have them all.
SHOWN_ERRORS = 5
#: Rows that are shown.
SHOWN_ROWS = 200


@click.command("sweep", cls=Command)
@argument("experiment", help="An experiment or a scenario FILE.toml.")
@option(
    "--grid",
    "-g",
    multiple=True,
    metavar="KEY=A,B,...",
    help="Values of a key, ranges as in 1e-6..1e-2:log9, 1..4:lin7 or 1..20, or @FILE with one a line; "
    "write \\, for a comma inside one.",
)
@option(
    "--zip",
    "zipped",
    multiple=True,
    metavar="KEY=A,B,...",
    help="The same for keys whose values advance together.",
)
@option("--protection", "-p", multiple=True, help="As in run; repeat for more.")
@option("--set", "-s", "settings", multiple=True, metavar="KEY=VALUE", help="As in run; repeat for more.")
@option("--seed", kind=WHOLE, help="Decides every random draw.")
@option(
    "--until",
    metavar="RULE",
    help="Double the work of a point until its figure is known so well: rel=10%@95%, then ,column=KEY or "
    ",max=COUNT.",
)
@option("--output", "-o", kind=PATH, help="Directory of the sweep; the same one resumes it.")
@flag("--replace", help="Take the place of another result in --output; your own files stay.")
@option("--threads", kind=WHOLE, help="Points at a time on this machine; all cores when not given.")
@option(
    "--executor", default="local", help="Who runs the points: local (threads), dask or slurm (array jobs)."
)
@option("--scheduler", metavar="ADDRESS", help="dask: a scheduler that runs; else a cluster on this machine.")
@option(
    "--slurm",
    multiple=True,
    metavar="KEY=VALUE",
    help="slurm: a parameter of submitit, such as timeout_min=60; repeat for more.",
)
@flag("--keep-going", help="A point that fails becomes a row with its error.")
@flag("--trials", help="Keep the tables of all points, too.")
@flag("--json", "as_json", help="Print all rows as one JSON object.")
@flag("--all", "every_key", help="Show every figure, by its key.")
@flag("--csv", "with_csv", help="Keep the rows as rows.csv, too.")
def command(
    experiment: str,
    grid: tuple[str, ...],
    zipped: tuple[str, ...],
    protection: tuple[str, ...],
    settings: tuple[str, ...],
    seed: int | None,
    until: str | None,
    output: Path | None,
    replace: bool,
    threads: int | None,
    executor: str,
    scheduler: str | None,
    slurm: tuple[str, ...],
    keep_going: bool,
    trials: bool,
    as_json: bool,
    every_key: bool,
    with_csv: bool,
) -> None:
    """Run every combination of the given values; finished points are kept and not run again.

    A grid key is any key of the scenario, `protection` or `seed`.

    Examples
    --------
        lossylink sweep stress -g loss=1e-4,1e-3 -g protection=lg,lg-nb --set traffic.packets=1M

        lossylink sweep my-link.toml --grid link.rate=25G,100G --grid seed=1..3 --output results/rates

        lossylink sweep tcp-fct -g loss=1e-3..1e-2:log3 -p lg -s flow.trials=2000 --until rel=10%@95%,max=20k

        lossylink sweep tcp-fct -g loss=1e-3 -g seed=1..20 --set flow.trials=2000 --executor dask --threads 2

        lossylink sweep tcp-fct -g seed=1..20 -s flow.trials=2000 --executor slurm --slurm cluster=local
    """
    from lossylink.cli.runs.live_table import sweep_display
    from lossylink.running import sweeping

    values, together = sweeping.parse_grid(grid), sweeping.parse_grid(zipped, option="--zip")
    if not values and not together:
        raise UserError("a sweep needs values; write --grid KEY=A,B,..., for instance --grid loss=1e-3,1e-2")
    with sweep_display((*values, *together)) as (progress, watch):
        result = sweeping.sweep(
            experiment,
            grid=values,
            zipped=together,
            protection=protection or None,
            settings=parse_settings(settings),
            seed=seed,
            output=output,
            replace=replace,
            threads=threads,
            executor=executor,
            scheduler=scheduler,
            slurm=parse_settings(slurm, option="--slurm", example="timeout_min=60"),
            until=until,
            trials=trials,
            keep_going=keep_going,
            progress=progress,
            watch=watch,
        )
    if with_csv and not result.beside:
        path = result.directory / "rows.csv"
        with output_to(result.directory), whole(path) as partial:
            write_csv(partial, result.rows)
    with output_to(result.directory):
        figure = None if result.interrupted else sweeping.save_figure(result)
    if as_json:
        print(json.dumps(result.summary(), allow_nan=False))
    else:
        _show(result, figure, every_key=every_key)
    if result.repeats:
        print(result.repeats, file=sys.stderr if as_json else sys.stdout)
    _finish(result)


def _show(result: Sweep, figure: Path | None, *, every_key: bool) -> None:
    rows = [row for row in result.rows.to_dicts() if not row.get("error")]
    show_rows(result.experiment, rows[:SHOWN_ROWS], places=tuple(result.grid), every_key=every_key)
    if len(rows) > SHOWN_ROWS:
        print(f"... and {len(rows) - SHOWN_ROWS:,} more rows in {result.directory / 'rows.parquet'}")
    print(f"{result.finished} of {result.points} points, {result.resumed} resumed, in {result.directory}/")
    if figure is not None:
        print(f"figure: {figure}")


def _finish(result: Sweep) -> None:
    """Say what is missing, and leave with the exit code for it."""
    if result.failed:
        for words in list(dict.fromkeys(result.failed.values()))[:SHOWN_ERRORS]:
            print(f"failed: {words}", file=sys.stderr)
        words = f"{len(result.failed)} of {result.points} points failed; their rows have the error"
        print(f"error: {words}, and the same command tries them again", file=sys.stderr)
    if result.interrupted:
        words = f"interrupted: kept {result.finished} of {result.points} points in {result.directory}"
        held = f", which still holds {result.beside}" if result.beside else ""
        print(f"{words}{held}; the same command goes on from there", file=sys.stderr)
        leave(INTERRUPTED)
    if result.failed:
        leave(FAILED)
