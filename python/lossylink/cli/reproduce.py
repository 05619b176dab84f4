"""``lossylink reproduce``: the published experiments beside their tables, with a verdict for each claim."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from pathlib import Path

import click

from lossylink._package.writing import output_to
from lossylink.cli.exits import INTERRUPTED, leave
from lossylink.cli.options.declaring import Command, flag, option
from lossylink.cli.options.kinds import PATH, WHOLE
from lossylink.cli.runs.running import parse_settings
from lossylink.errors import UserError
from lossylink.units import parse_time


class Measured(StrEnum):
    """What measures."""

    sim = "sim"
    kernel = "kernel"


DEFAULT_BUDGET = "3m"
_MINUTES = re.compile(r"(?<=[\d.])\s*m$")
"""A metre elsewhere."""


def _budget_seconds(text: str | None, *, quick: bool) -> float:
    """Read a budget; a quick look has none of its own."""
    if text is None:
        text = "0" if quick else DEFAULT_BUDGET
    try:
        return parse_time(_MINUTES.sub("min", text)) / 1e12
    except ValueError as error:
        raise UserError(f"--budget: {error}") from None


@click.command("reproduce", cls=Command)
@option("--only", metavar="A,B", help="Only these experiments, separated by commas.")
@flag("--quick", help="20 times smaller than published.")
@option(
    "--backend",
    kind=click.Choice(Measured),
    default=Measured.sim,
    help="The simulator, or real hosts over the simulated path, in virtual time.",
)
@option(
    "--output",
    "-o",
    kind=PATH,
    default=Path("runs/reproduce"),
    help="Directory of report.html and its figures.",
)
@flag("--replace", help="Take the place of another result in --output; your own files stay.")
@option("--seed", kind=WHOLE, default=1, help="Decides every random draw.")
@option("--threads", kind=WHOLE, help="Threads; all cores when not given.")
@option(
    "--budget",
    metavar="TIME",
    help="Wall time of the whole call, about, as in 30m. The published amounts are always done; what is "
    "left goes to more trials for claims that are open. 3m when not given, 0 with --quick.",
)
@flag("--fresh", help="Run again what an earlier call with this output finished.")
@flag("--strict", help="Exit with 1 when a claim fails.")
@option(
    "--executor", help="Who runs the points, as in sweep: local, dask or slurm; this process when not given."
)
@option("--scheduler", metavar="ADDRESS", help="As in sweep.")
@option("--slurm", multiple=True, metavar="KEY=VALUE", help="As in sweep; repeat for more.")
def command(
    only: str | None,
    quick: bool,
    backend: Measured,
    output: Path,
    replace: bool,
    seed: int,
    threads: int | None,
    budget: str | None,
    fresh: bool,
    strict: bool,
    executor: str | None,
    scheduler: str | None,
    slurm: tuple[str, ...],
) -> None:
    """Run the published experiments, print each table beside the published one, and write a report.

    Ctrl-C keeps the points that are finished; the same call again goes on from there. So does a call with a
    larger --budget. The clock decides how many trials a claim gets, and so which claims are decided. The seed
    alone decides the figures of so many trials, the tables and the charts; with --budget 0 the verdicts, too.

    Examples
    --------
        lossylink reproduce

        lossylink reproduce --budget 30m

        lossylink reproduce --quick --only stress,tcp-fct --output /tmp/report

        lossylink reproduce --backend kernel --only tcp-fct,throughput --output runs/kernel
    """
    from lossylink.reproduce import reproduce

    names = [name.strip() for name in only.split(",") if name.strip()] if only else None
    if threads is not None and threads < 1:
        raise UserError(f"--threads {threads}: use at least 1")
    try:
        with output_to(output):
            result = reproduce(
                output=output,
                replace=replace,
                only=names,
                quick=quick,
                backend=backend.value,
                seed=seed,
                threads=threads or len(os.sched_getaffinity(0)),
                fresh=fresh,
                budget_seconds=_budget_seconds(budget, quick=quick),
                executor=executor,
                scheduler=scheduler,
                slurm=parse_settings(slurm, option="--slurm", example="timeout_min=60"),
            )
    except ValueError as error:
        raise UserError(str(error)) from None
    leave(INTERRUPTED if result.interrupted else result.exit_code(strict=strict))
