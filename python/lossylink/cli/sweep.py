"""``lossylink sweep``: a grid of settings, in parallel, resumed where it was left."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossylink.cli.exits import INTERRUPTED, leave
from lossylink.errors import UserError
from lossylink.writing import output_to, whole

if TYPE_CHECKING:
    from lossylink.sweeping import Sweep


def command(
    experiment: Annotated[str, typer.Argument(help="An experiment or a scenario FILE.toml.")],
    grid: Annotated[
        list[str],
        typer.Option(
            "--grid", "-g", metavar="KEY=A,B,...", help="Values of a key; write \\, for a comma inside one."
        ),
    ],
    protection: Annotated[
        list[str] | None, typer.Option("--protection", "-p", help="As in run; repeat for more.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", "-s", metavar="KEY=VALUE", help="As in run; repeat for more.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Decides every random draw.")] = None,
    output: Annotated[
        Path | None, typer.Option(help="Directory of the sweep; the same one resumes it.")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Points at a time; all cores when not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all rows as one JSON object.")] = False,
    every_key: Annotated[bool, typer.Option("--all", help="Show every figure, by its key.")] = False,
    with_csv: Annotated[bool, typer.Option("--csv", help="Keep the rows as rows.csv, too.")] = False,
) -> None:
    """Run every combination of the given values; finished points are kept and not run again.

    A grid key is any key of the scenario, `protection` or `seed`.

    Examples
    --------
        lossylink sweep stress -g loss=1e-4,1e-3 -g protection=lg,lg-nb --set traffic.packets=1M

        lossylink sweep my-link.toml --grid link.rate=25G,100G --grid seed=1,2,3 --output results/rates
    """
    import json  # heavy imports wait until they are needed

    from lossylink import sweeping
    from lossylink.cli.progress import progress_bar
    from lossylink.cli.run import parse_settings
    from lossylink.run_directory import write_csv

    with progress_bar("sweep") as progress:
        result = sweeping.sweep(
            experiment,
            grid=parse_grid(grid),
            protection=protection,
            settings=parse_settings(settings or []),
            seed=seed,
            output=output,
            threads=threads,
            progress=progress,
        )
    if with_csv:
        path = result.directory / "rows.csv"
        with output_to(result.directory), whole(path) as partial:
            write_csv(partial, result.rows)
    if as_json:
        print(json.dumps(result.summary(), allow_nan=False))
    else:
        _show(result, every_key=every_key)
    if result.interrupted:
        words = f"interrupted: kept {result.finished} of {result.points} points in {result.directory}"
        print(f"{words}; the same command goes on from there", file=sys.stderr)
        leave(INTERRUPTED)


def _show(result: Sweep, *, every_key: bool) -> None:
    from lossylink.cli.tables import show_rows

    rows = result.rows.to_dicts()
    show_rows(result.experiment, rows, places=tuple(result.grid), every_key=every_key)
    print(f"{result.finished} of {result.points} points, {result.resumed} resumed, in {result.directory}/")


def parse_grid(words: list[str]) -> dict[str, list[str]]:
    r"""Split ``KEY=A,B,...`` words; ``\,`` is a comma inside a value.

    Examples
    --------
    >>> parse_grid(["link.rate=25G,100G", r"protection=lg:copies=3\,tail=off,none"])
    {'link.rate': ['25G', '100G'], 'protection': ['lg:copies=3,tail=off', 'none']}
    """
    grid: dict[str, list[str]] = {}
    for word in words:
        key, equals, rest = word.partition("=")
        values = [part.replace("\0", ",").strip() for part in rest.replace("\\,", "\0").split(",")]
        if not (key.strip() and equals) or not all(values):
            raise UserError(f"--grid {word}: write KEY=A,B,..., for instance --grid loss.forward=1e-3,1e-2")
        if key.strip() in grid:
            raise UserError(f"--grid {key.strip()} is given twice")
        grid[key.strip()] = values
    return grid
