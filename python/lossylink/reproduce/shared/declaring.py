"""Published experiments as data: what each is called, and what is claimed of it, all judged by one function.

``reference/experiments/NAME.toml`` has a heading with the words of each claim. Below it stand the quantity
that is measured, the range that is accepted and where the claim is from. A quantity is a function of finished
runs among the experiment's measures, with its other arguments: ``["number", JOB, PROTECTION, KEY]``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import msgspec

from lossylink._package.published import Published
from lossylink._package.resources import DECLARATIONS
from lossylink.reproduce.framework.judging import (
    ROUNDED_BOUND_SLACK,
    Bound,
    Measure,
    bounded,
    consistent,
    rare_events,
    size,
)
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Judge
from lossylink.reproduce.shared import measures as shared
from lossylink.statistics.estimates import Estimate

Call = str | list[Any] | dict[str, Any]
"""A function, a function with arguments, or ``of`` one quantity ``over`` another."""
Number = float | str
"""A number, or the name of a number or of a function without arguments among the measures."""


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A claim as it is written; its words are its heading."""

    measure: Call
    at_least: float = -math.inf
    at_most: float = math.inf
    between: tuple[Number, Number] | None = None
    exactly: Number | None = None
    is_rounded: bool = msgspec.field(default=False, name="rounded")
    """Whether the source states its bound as a round number."""
    times: str = ""
    """What the bounds are multiples of: ``published``, or a number of the measures."""
    expected: Number | None = None
    """A value that the interval has to hold, in place of bounds."""
    exposure: Number = 0.0
    """Rare events are counted over no less than this."""
    noun: str = ""
    """What rare events are called; without it the measure is no count."""
    is_size: bool = msgspec.field(default=False, name="size")
    """Whether the measure is the size of the experiment, of which less than published proves nothing."""
    published: str | list[str] | float | None = None
    """Where the published figure is, two for the quotient of both, or a function that computes it."""
    unit: str = ""
    digits: int = 3
    basis: Literal["prediction", "theory", "set-up"] = "prediction"
    """What the figure rests on, unless the values are named that were fitted to it, or assumed."""
    calibrated: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    source: str = ""
    edge: str = ""
    """The edge between two kinds of flows at which a percentile lies, by its name among the measures."""
    remark: str = ""
    instead: str = ""
    of_published_amount: bool = False


class Declaration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published experiment as it is written."""

    title: str
    summary: str
    source: str
    needs: str
    place: int
    lead: str = ""
    guides: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    on_request: bool = False
    claimed_in: str = ""
    """The source of claims that name none."""
    groups: dict[str, tuple[str, ...]] = {}
    """Values that claims rest on together, by the name under which claims know them."""
    claims: dict[str, Statement] = {}


@cache
def load(name: str) -> Declaration:
    """Read the declaration of a published experiment."""
    text = (DECLARATIONS / f"{name}.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=Declaration)


def declared(
    name: str,
    own: Mapping[str, Any] | None = None,
    *,
    also: Callable[[Published], Iterable[Claim]] = lambda _published: (),
    **words: str,
) -> dict[str, Any]:
    """What `PublishedExperiment` takes of a declaration: its words and its claims.

    Parameters
    ----------
    name
        Of the experiment, and of its file.
    own
        Measures of the experiment, beside those that experiments share, by name.
    also
        Gives claims that follow those of the file.
    words
        What stands in notes in place of ``{NAME}``.
    """
    found = load(name)

    def claims(published: Published) -> tuple[Claim, ...]:
        judges = _Judges({**vars(shared), **(own or {})}, published)
        return (*(_claim(found, text, one, judges) for text, one in found.claims.items()), *also(published))

    keys = ("title", "summary", "source", "needs", "place", "lead", "guides", "on_request")
    notes = tuple(note.format(**words) for note in found.notes)
    return {"name": name, "claims": claims, "notes": notes} | {key: getattr(found, key) for key in keys}


def _claim(found: Declaration, text: str, one: Statement, judges: _Judges) -> Claim:
    basis = Basis.CALIBRATED if one.calibrated else Basis.ASSUMED if one.assumed else Basis(one.basis)
    named = one.calibrated or one.assumed
    rests_on = tuple(value for name in named for value in found.groups.get(name, (name,)))
    source = one.source or found.claimed_in
    return Claim(text, judges.judge(one), basis, source, rests_on, one.of_published_amount)


@dataclass(frozen=True)
class _Judges:
    """Makes judges of statements, with the measures that these name and the figures that were published."""

    measures: Mapping[str, Any]
    published: Published

    def judge(self, one: Statement) -> Judge:
        """The judge of a statement: of rare events, of an expected value, of a size or of a range."""
        published = self._figure(one.published)
        if one.noun:
            expected, exposure = self._number(one.expected), self._number(one.exposure)
            count = self._read(one.measure)
            return rare_events(count, expected_rate=expected, published_exposure=exposure, noun=one.noun)
        measure = self._measure(one.measure)
        if one.expected is not None:
            return consistent(measure, self._number(one.expected), digits=one.digits, unit=one.unit)
        if one.is_size:
            return size(measure, self._number(published), unit=one.unit, remark=one.remark)
        return bounded(
            measure,
            self._bound(one, published),
            published=published,
            unit=one.unit,
            digits=one.digits,
            instead=one.instead,
            edge=self.measures[one.edge] if one.edge else None,
            remark=one.remark,
        )

    def _bound(self, one: Statement, published: float | None) -> Bound:
        low, high = one.between or (one.at_least, one.at_most)
        if one.exactly is not None:
            low = high = one.exactly
        unit = 1.0
        if one.times:
            unit = self._number(published if one.times == "published" else one.times)
        slack = ROUNDED_BOUND_SLACK if one.is_rounded else 0.0
        return Bound(unit * self._number(low), unit * self._number(high), slack)

    def _number(self, value: Number | None) -> float:
        """A number that stands in the statement, among the measures or among the published figures."""
        if isinstance(value, str):
            found = self.measures.get(value) if value in self.measures else self._figure(value)
            value = found() if callable(found) else found
        assert value is not None, "a statement says its numbers"
        return value

    def _figure(self, place: str | list[str] | float | None) -> float | None:
        """A published figure; nothing where the statement names none, and without any published figures.

        Raises
        ------
        KeyError
            There is no figure at the place that the statement names.
        """
        if isinstance(place, list):
            above, below = (self._figure(one) for one in place)
            return None if above is None or below is None else above / below
        if not isinstance(place, str):
            return place
        if place in self.measures:
            computed: float | None = self.measures[place](self.published)
            return computed
        figure = published_at(self.published, place)
        if figure is None and self.published:
            raise KeyError(f"no figure was published at {place}")
        return figure

    def _measure(self, call: Call) -> Measure:
        """A quantity with its interval; one without is known exactly."""
        read = self._read(call)

        def measure(finished: Finished) -> Estimate:
            found = read(finished)
            return found if isinstance(found, Estimate) else Estimate.exact(found)

        return measure

    def _read(self, call: Call) -> Callable[[Finished], Any]:
        if isinstance(call, dict):
            above, below = self._measure(call["of"]), self._measure(call["over"])
            return lambda finished: shared.quotient(above(finished), below(finished))
        name, *arguments = [call] if isinstance(call, str) else call
        function = self.measures[name]
        values = [self._figure(one["published"]) if isinstance(one, dict) else one for one in arguments]
        return lambda finished: function(finished, *values)


def published_at(published: Published, place: str) -> float | None:
    """Follow a place such as ``linkguardian.tcp_fct.p99.lg_nb`` to its figure; none where there is none.

    A list is asked for the place of an entry, or for the column that the table gives it.

    Examples
    --------
    >>> table = {"fct": {"columns": ["none", "lg"], "p50": [91.6, 85.3], "rx_kb": [0.0, 83.6]}}
    >>> [published_at(table, place) for place in ("fct.p50.lg", "fct.rx_kb.1", "fct.p99.lg")]
    [85.3, 83.6, None]
    """
    value: Any = published
    columns: list[str] = []
    for key in place.split("."):
        if isinstance(value, list):
            value = value[int(key) if key.isdigit() else columns.index(key)]
            continue
        columns = value.get("columns", [])
        if key not in value:
            return None
        value = value[key]
    return float(value)
