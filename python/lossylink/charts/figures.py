"""From runs to figures: every kind that their rows and tables admit, and why others are not possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lossylink.charts.chart import Sheet
from lossylink.charts.kinds import CannotDrawError, kind_named, kinds
from lossylink.charts.samples import samples_of
from lossylink.errors import UserError
from lossylink.results.result import Result


@dataclass(frozen=True)
class Possible:
    """What can be drawn of some runs."""

    sheets: tuple[Sheet, ...]
    reasons: Mapping[str, str]
    """Why the other kinds cannot, by their names."""


def possible(runs: Iterable[tuple[str, Result]]) -> Possible:
    """Make every figure that the runs, each given with a name, admit."""
    samples = samples_of(runs)
    sheets, reasons = [], {}
    for kind in kinds().values():
        try:
            sheets.append(kind.sheet(samples))
        except CannotDrawError as error:
            reasons[kind.name] = str(error)
    return Possible(tuple(sheets), reasons)


def sheet_of(runs: Iterable[tuple[str, Result]], kind: str | None) -> Sheet:
    """Make the figure of one kind, or of the first kind that the runs admit.

    Raises
    ------
    UserError
        There is no such kind, or the runs lack what it shows.
    """
    if kind is not None:
        return kind_named(kind).sheet(samples_of(runs))
    found = possible(runs)
    if not found.sheets:
        raise UserError("nothing of these runs can be drawn: they have neither tables nor figures that vary")
    return found.sheets[0]
