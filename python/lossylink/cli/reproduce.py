"""``lossylink reproduce``: the published experiments beside their tables, with a verdict for each claim."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lossylink._package.writing import output_to
from lossylink.cli.exits import INTERRUPTED, leave
from lossylink.cli.running import parse_settings
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


def command(
    only: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these experiments, separated by commas.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="20 times smaller than published.")] = False,
    backend: Annotated[
        Measured, typer.Option(help="The simulator, or real hosts over the simulated path, in virtual time.")
    ] = Measured.sim,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Directory of report.html and its figures.")
    ] = Path("runs/reproduce"),
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Take the place of another result in --output; your own files stay."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Decides every random draw.")] = 1,
    threads: Annotated[int | None, typer.Option(help="Threads; all cores when not given.")] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Wall time of the whole call, about, as in 30m. The published amounts are always done; "
            "what is left goes to more trials for claims that are open. 3m when not given, 0 with --quick.",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run again what an earlier call with this output finished.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when a claim fails.")] = False,
    executor: Annotated[
        str | None,
        typer.Option(
            help="Who runs the points, as in sweep: local, dask or slurm; this process when not given."
        ),
    ] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="As in sweep.")] = None,
    slurm: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="As in sweep; repeat for more.")
    ] = None,
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
                slurm=parse_settings(slurm or [], option="--slurm", example="timeout_min=60"),
            )
    except ValueError as error:
        raise UserError(str(error)) from None
    leave(INTERRUPTED if result.interrupted else result.exit_code(strict=strict))
