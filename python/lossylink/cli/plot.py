"""``lossylink plot``: figures of results, as pictures, as numbers, or for flent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lossylink._package.progress import progress_bar
from lossylink._package.writing import output_to
from lossylink.charts.folder import Figures
from lossylink.cli.options.declaring import Command, argument, flag, option
from lossylink.cli.options.kinds import PATH
from lossylink.errors import UserError, unknown
from lossylink.results.result import Result

if TYPE_CHECKING:
    from lossylink.charts.chart import Sheet

PICTURES = ("png", "svg", "pdf")
FLENT = "flent"
FORMATS = (*PICTURES, "csv", "json", FLENT)
#: The kinds of `lossylink.charts.kinds`, which the help names without loading them.
KINDS = (
    *("ccdf", "timeline", "mathis", "goodput", "effective-loss", "fct-size", "fct-loss", "cliff", "trace"),
    *("cwnd", "sequence", "buffers", "slowdown", "published", "link-speed", "fabric", "fabric-gain"),
)


@click.command("plot", cls=Command, below=lambda: f"Kinds of figures: {', '.join(KINDS)}")
@argument(
    "runs",
    PATH,
    nargs=-1,
    required=True,
    metavar="RUN...",
    help="Directories of run, sweep, or a point of reproduce; or FILE.pcapng.",
)
@option("--kind", multiple=True, help=f"{', '.join(KINDS)}; repeat for more. All that fit when not given.")
@option("--output", "-o", kind=PATH, default=Path("figures"), help="Directory of the figures.")
@flag("--replace", help="Take the place of figures of other results in --output.")
@option(
    "--format", "formats", default="png", metavar="A,B", help=f"{', '.join(FORMATS)}; separated by commas."
)
@flag("--verbose", "-v", help="Say why the other kinds are not possible.")
def command(
    runs: tuple[Path, ...], kind: tuple[str, ...], output: Path, replace: bool, formats: str, verbose: bool
) -> None:
    """Draw figures of results; several are laid over each other, called by what differs between them.

    csv and json are the numbers of each figure. flent is one file a protection and run, which flent opens.

    Examples
    --------
        lossylink plot runs/tcp-fct-20260102-120000-1a2b3c4d

        lossylink plot results/reno results/cubic --kind goodput --format pdf,csv -o paper

        lossylink plot runs/reproduce/timeline/25g-dctcp --format flent -o for-flent
    """
    chosen = read_formats(formats)
    loaded = _load(runs)
    folder = Figures.of(output, runs, replace=replace)
    flent_files = _for_flent(loaded, output) if FLENT in chosen else []
    drawn = [one for one in chosen if one != FLENT]
    sheets, reasons = _sheets(loaded, kind) if drawn else ([], {})
    files = [*flent_files, *(_save(sheets, output, drawn) if sheets else [])]
    with output_to(output):
        folder.keep(files)
    for file in files:
        print(file)
    if drawn:
        kinds = ", ".join(sheet.identifier for sheet in sheets)
        print(f"drew {kinds}; {_others(reasons, verbose=verbose)}")
    if verbose:
        for name, reason in reasons.items():
            print(f"no {name}: {reason}")


def _others(reasons: dict[str, str], *, verbose: bool) -> str:
    if not reasons:
        return "nothing else was asked for"
    return f"{len(reasons)} other kinds are not possible" + (":" if verbose else "; --verbose says why")


def read_formats(text: str) -> list[str]:
    """Split formats.

    Examples
    --------
    >>> read_formats("png, csv")
    ['png', 'csv']
    >>> read_formats("gif")
    Traceback (most recent call last):
    lossylink.errors.UserError: unknown format 'gif'; Valid: csv, flent, json, pdf, png, svg
    """
    names = list(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))
    for name in names:
        if name not in FORMATS:
            raise unknown("format", name, FORMATS)
    if not names:
        raise UserError(f"--format names none; valid: {', '.join(FORMATS)}")
    return names


def _load(directories: Sequence[Path]) -> list[tuple[str, Result]]:
    from lossylink.running.loading import load_runs

    return [one for directory in directories for one in load_runs(directory)]


def _sheets(runs: list[tuple[str, Result]], wanted: Sequence[str]) -> tuple[list[Sheet], dict[str, str]]:
    """Make the wanted figures, or all that are possible with the reasons against the others."""
    from lossylink.charts.figures import possible, sheet_of

    if wanted:
        return [sheet_of(runs, one) for one in dict.fromkeys(wanted)], {}
    found = possible(runs)
    if not found.sheets:
        lines = "; ".join(f"{name}: {reason}" for name, reason in found.reasons.items())
        raise UserError(f"nothing of this can be drawn. {lines}")
    return list(found.sheets), dict(found.reasons)


def _save(sheets: Sequence[Sheet], folder: Path, formats: list[str]) -> list[Path]:
    files: list[Path] = []
    with output_to(folder), progress_bar("plot") as progress:
        for done, sheet in enumerate(sheets):
            progress(done, len(sheets))
            files += _save_one(sheet, folder, formats)
    return files


def _save_one(sheet: Sheet, folder: Path, formats: list[str]) -> tuple[Path, ...]:
    if not set(formats) & set(PICTURES):
        from lossylink.charts.data import save_numbers

        return save_numbers(sheet, folder, formats=formats)
    from lossylink.charts.drawing import save  # matplotlib, which numbers do without

    return save(sheet, folder, formats=formats)


def _for_flent(runs: list[tuple[str, Result]], folder: Path) -> list[Path]:
    from lossylink.charts.flent import write_flent

    with output_to(folder):
        return write_flent(runs, folder)
