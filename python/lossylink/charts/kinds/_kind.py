"""What a kind of figure declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lossylink.charts.chart import Sheet
from lossylink.charts.samples import Sample
from lossylink.errors import UserError


class CannotDrawError(UserError):
    """The samples lack what a kind of figure shows; the message says what, and which run has it."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of figure.

    Attributes
    ----------
    name
        As users write it.
    place
        Kinds with lower numbers come first, in lists and where one is chosen.
    summary
        One line for lists.
    sheet
        Makes the figure of samples, or raises `CannotDrawError`.
    """

    name: str
    place: int
    summary: str
    sheet: Callable[[Sequence[Sample]], Sheet]
