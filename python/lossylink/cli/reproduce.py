"""``lossylink reproduce``: the published experiments beside their tables, with a verdict for each claim."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lossylink.cli.exits import INTERRUPTED, leave
from lossylink.errors import UserError
from lossylink.writing import output_to


class Measured(StrEnum):
    """What measures."""

    sim = "sim"
    kernel = "kernel"


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

    Ctrl-C keeps the points that are finished; the same call again goes on from there.

    Examples
    --------
        lossylink reproduce

        lossylink reproduce --quick --only stress,tcp-fct --output /tmp/report

        lossylink reproduce --backend kernel --only tcp-fct,throughput --output runs/kernel
    """
    import os  # heavy imports wait until they are needed

    from lossylink.cli.running import parse_settings
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
                executor=executor,
                scheduler=scheduler,
                slurm=parse_settings(slurm or [], option="--slurm", example="timeout_min=60"),
            )
    except ValueError as error:
        raise UserError(str(error)) from None
    leave(INTERRUPTED if result.interrupted else result.exit_code(strict=strict))
