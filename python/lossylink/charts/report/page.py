"""A report as data: findings, sections with charts, tables and commands, and claims where there are any.

`lossylink.charts.report.html` writes it. Texts are plain: powers of ten, units and
``code`` are set when it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lossylink.charts.chart import Chart
from lossylink.charts.link_budget import LinkBudget
from lossylink.charts.report.provenance import Provenance
from lossylink.charts.report.sketch import Sketch


@dataclass(frozen=True)
class Link:
    """A file beside the page, by its path from there; without a path the text stands alone."""

    text: str
    path: str = ""


@dataclass(frozen=True)
class Finding:
    """What a reader should know first: a figure, the sentence that it belongs to and how well it is known."""

    figure: str
    text: str
    reason: str
    target: str
    """Identifier of the section that has it from its runs."""


STYLES = ("holds", "fails", "refuted", "undecided", "not-run", "set-up")
"""Classes of the style sheet for what became of a claim, in the order in which they are listed."""


@dataclass(frozen=True)
class Statement:
    """A claim with what became of it; ``identifier`` is unique in the page."""

    identifier: str
    style: str
    """One of `STYLES`."""
    outcome: str
    text: str
    reason: str
    source: str = ""
    basis: str = ""
    rests_on: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    """Values that no source gives and that move its figure, a sentence each."""

    @property
    def is_open(self) -> bool:
        """Whether it does not hold."""
        return self.style not in {"holds", "set-up"}


@dataclass(frozen=True)
class Statements:
    """Claims under one heading; those that are not of this run are not counted."""

    title: str
    statements: tuple[Statement, ...]
    note: str = ""
    of_this_run: bool = True


@dataclass(frozen=True)
class Heading:
    """A column of a table, or several under one name: ``parts`` names them."""

    name: str
    mark: str = ""
    parts: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Line:
    """A row of a table: its label, and a text for each part of each column."""

    label: str
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Table:
    """A table of texts."""

    title: str
    columns: tuple[Heading, ...]
    lines: tuple[Line, ...]
    note: str = ""


@dataclass(frozen=True)
class Command:
    """A command that makes what the page shows, the scenario that it resolves to, and the files it left."""

    title: str
    command: str
    scenario: str = ""
    files: tuple[Link, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page with its place in the contents; ``identifier`` is unique in the page."""

    identifier: str
    title: str
    summary: str = ""
    source: str = ""
    remark: str = ""
    """How much was run, beside the title."""
    sketch: Sketch | None = None
    notices: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    claims: tuple[Statements, ...] = ()
    tables: tuple[Table, ...] = ()
    budgets: tuple[LinkBudget, ...] = ()
    notes: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    figures: tuple[tuple[str, tuple[Link, ...]], ...] = ()
    """Figures that were saved: a name and its files."""
    guides: tuple[Link, ...] = ()

    @property
    def counts(self) -> tuple[tuple[str, str, int], ...]:
        """Style, outcome and number of its claims of this run: what holds first, the set-up last."""
        found = [(one.style, one.outcome) for one in self.statements]
        return tuple((*key, found.count(key)) for key in sorted(set(found), key=_rank))

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Its claims of this run."""
        return tuple(one for group in self.claims if group.of_this_run for one in group.statements)


@dataclass(frozen=True)
class OpenClaims:
    """Claims that do not hold, of one outcome, each with the title of its section."""

    style: str
    outcome: str
    claims: tuple[tuple[str, Statement], ...]


@dataclass(frozen=True, kw_only=True)
class Page:
    """A whole report."""

    title: str
    meta: str
    notices: tuple[str, ...]
    findings: tuple[Finding, ...]
    lead: Chart | None
    tally: str
    sections: tuple[Section, ...]
    method: tuple[str, ...]
    provenance: Provenance | None
    of: tuple[str, ...] = ()
    """The results that it shows: where they are, seen from the page."""

    def open_claims(self) -> list[OpenClaims]:
        """Every claim that does not hold, by outcome."""
        found: dict[tuple[str, str], list[tuple[str, Statement]]] = {}
        for section in self.sections:
            for one in section.statements:
                if one.is_open:
                    found.setdefault((one.style, one.outcome), []).append((section.title, one))
        keys = sorted(found, key=_rank)
        return [OpenClaims(*key, tuple(found[key])) for key in keys]


def page_of(
    *,
    title: str,
    sections: Sequence[Section],
    meta: str = "",
    notices: Sequence[str] = (),
    findings: Sequence[Finding] = (),
    lead: str = "",
    tally: str = "",
    method: Sequence[str] = (),
    provenance: Provenance | None = None,
) -> Page:
    """Make a page of its sections; without claims, findings or a method it has none of these parts.

    Parameters
    ----------
    title
        The heading.
    sections
        What the page has, in order. Identifiers of sections, charts and claims are unique together.
    meta
        One line below the title: when, with what and how long.
    notices
        Sentences that a reader must see first.
    findings
        Those whose section is missing are left out.
    lead
        Identifier of the chart that stands on top too; none when no section has it.
    tally
        How many claims met which outcome, in one sentence.
    method
        Paragraphs about how figures and verdicts come about.
    provenance
        Command line, versions and machine.

    Raises
    ------
    ValueError
        Two parts have the same identifier.

    Examples
    --------
    >>> page = page_of(title="Two runs", sections=[Section(identifier="a", title="The first")])
    >>> page.title, page.open_claims()
    ('Two runs', [])
    """
    charts = {chart.identifier: chart for section in sections for chart in section.charts}
    names = [section.identifier for section in sections]
    _refuse_doubles(
        [
            *names,
            *(chart.identifier for section in sections for chart in section.charts),
            *(one.identifier for section in sections for group in section.claims for one in group.statements),
        ]
    )
    return Page(
        title=title,
        meta=meta,
        notices=tuple(notices),
        findings=tuple(one for one in findings if one.target in names),
        lead=charts.get(lead),
        tally=tally,
        sections=tuple(sections),
        method=tuple(method),
        provenance=provenance,
    )


def _rank(key: tuple[str, str]) -> tuple[int, str]:
    style, outcome = key
    return STYLES.index(style), outcome


def _refuse_doubles(identifiers: Sequence[str]) -> None:
    doubles = sorted({one for one in identifiers if identifiers.count(one) > 1})
    if doubles:
        raise ValueError(f"identifiers of a page must differ; more than once: {', '.join(doubles)}")
