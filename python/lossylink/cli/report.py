"""``lossylink report``: one page of results, with their figures, rows and scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lossylink.writing import output_to, whole


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Directories of run, sweep, or of a point of reproduce."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page, one HTML file.")] = Path(
        "report.html"
    ),
    title: Annotated[
        str | None, typer.Option(help="Its heading; the names of the results when not given.")
    ] = None,
) -> None:
    """Write one page of results: every figure that they admit, their rows and scenarios.

    The page needs no network. Several results are also drawn over each other.

    Examples
    --------
        lossylink report runs/tcp-fct-20260102-120000-1a2b3c4d

        lossylink report results/reno results/cubic --title "Reno and CUBIC" -o reno-cubic.html
    """
    from lossylink.report.html import render
    from lossylink.report.runs import page_of_runs

    page = page_of_runs(runs, output=output.absolute(), title=title)
    with output_to(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        with whole(output) as partial:
            partial.write_text(render(page), encoding="utf-8")
    print(output)
