"""``lossylink report``: one page of results, with their figures, rows and scenarios."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import click

from lossylink._package.writing import output_to, whole
from lossylink.cli.options.declaring import Command, argument, flag, option
from lossylink.cli.options.kinds import PATH
from lossylink.errors import UserError


@click.command("report", cls=Command)
@argument(
    "runs",
    PATH,
    nargs=-1,
    required=True,
    metavar="RUN...",
    help="Directories of run, sweep, or of a point of reproduce.",
)
@option("--output", "-o", kind=PATH, default=Path("report.html"), help="The page, one HTML file.")
@flag("--replace", help="Take the place of a page of other results.")
@option("--title", help="Its heading; the names of the results when not given.")
def command(runs: tuple[Path, ...], output: Path, replace: bool, title: str | None) -> None:
    """Write one page of results: every figure that they admit, their rows and scenarios.

    The page needs no network. Several results are also drawn over each other.

    Examples
    --------
        lossylink report runs/tcp-fct-20260102-120000-1a2b3c4d

        lossylink report results/reno results/cubic --title "Reno and CUBIC" -o reno-cubic.html
    """
    from lossylink.charts.report.html import render
    from lossylink.cli.results_page import page_of_runs, places_of

    held = results_in(output)
    if held is not None and set(held) != set(places_of(runs, output.absolute())) and not replace:
        shown = ", ".join(map(unquote, held)) or "a reproduction"
        raise UserError(
            f"{output} shows {shown}; add --replace to take its place, or choose another --output"
        )
    page = page_of_runs(runs, output=output.absolute(), title=title)
    with output_to(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        with whole(output) as partial:
            partial.write_text(render(page), encoding="utf-8")
    print(output)


#: What the head of every page says, before anything else that is of interest.
_HEAD = re.compile(
    r'<meta name="generator" content="lossylink">\s*<meta name="results" content="(?P<results>[^"]*)">'
)
_HEAD_BYTES = 4096


def results_in(page: Path) -> list[str] | None:
    """Return the results that a page shows; nothing where there is no page.

    Raises
    ------
    UserError
        There is something else, which is never replaced.
    """
    with output_to(page):
        if not page.exists():
            return None
        if page.is_dir():
            raise UserError(f"{page} is a directory; name a file, such as {page / 'report.html'}")
        with page.open("rb") as file:
            head = file.read(_HEAD_BYTES).decode(errors="replace")
    found = _HEAD.search(head)
    if found is None:
        raise UserError(f"{page} is no report of this version of lossylink; choose another --output")
    return found["results"].split()
