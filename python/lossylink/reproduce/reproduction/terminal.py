"""Tables and verdicts on a terminal: published, ours and their ratio side by side."""

from __future__ import annotations

from itertools import chain

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from lossylink.reproduce.framework.comparison import ComparisonTable
from lossylink.reproduce.framework.kept import Kept
from lossylink.reproduce.framework.model import Basis, Outcome, Verdict, basis_text
from lossylink.reproduce.framework.result import ExperimentResult, ReproduceResult
from lossylink.reproduce.framework.tally import tally
from lossylink.reproduce.growth.telling import told
from lossylink.results.drawn import ENDLESS, Sentences, Whole, show

MARK = "*"
"""Stands beside a column that has a mark; the mark is spelt out below the table."""

_INDENT = 1
"""Blanks in front of what is said below a heading."""

OUTCOME_STYLES = {
    Outcome.HOLDS: "green",
    Outcome.REFUTED: "cyan",
    Outcome.FAILS: "bold red",
    Outcome.UNDECIDED: "yellow",
    Outcome.UNDECIDABLE: "yellow",
    Outcome.SET_UP: "dim",
    Outcome.NOT_RUN: "dim",
}


def print_experiment(console: Console, result: ExperimentResult) -> None:
    """Print the tables and verdicts of one experiment."""
    size = ", quick form" if result.is_quick else ""
    show(console, "", Text(f"{result.experiment.title} ({result.experiment.name}{size})", style="bold"))
    for key, reason in result.failures.items():
        _say(console, Text(f"{key} failed: {reason}", style="bold red"))
    for table in result.tables:
        if table.title:
            show(console, Text(table.title, style="bold"))
        show(console, *(Whole(comparison_table(part)) for part in fitting(table, console)))
        _print_notes(console, table)
    for verdict in result.verdicts:
        _say(console, verdict_line(verdict))
    if result.kept is not None:
        _print_kept(console, result.kept)


def _say(console: Console, *lines: Text) -> None:
    show(console, *(Sentences(line, indent=_INDENT) for line in lines))


def _print_kept(console: Console, kept: Kept) -> None:
    show(console, f"{kept.origin}. {kept.tally}")
    for one in kept.open_verdicts:
        line = Text.assemble((f"{one.outcome}: ", OUTCOME_STYLES[one.outcome]), one.claim)
        _say(console, line.append(f": {one.reason}", style="dim"))


def _print_notes(console: Console, table: ComparisonTable) -> None:
    marks = {column.mark: None for column in table.columns if column.mark}
    for text in (*(f"{MARK} {mark}" for mark in marks), table.note):
        if text:
            _say(console, Text(text, style="dim"))


def fitting(comparison: ComparisonTable, console: Console) -> list[ComparisonTable]:
    """The table, or parts of it one below the other when it is wider than the terminal."""
    count = len(comparison.columns)
    endless = console.options.update(max_width=ENDLESS)
    width = Measurement.get(console, endless, comparison_table(comparison)).maximum
    if width <= console.width or count == 1:
        return [comparison]
    left, right = (
        comparison.columns_from(0, (count + 1) // 2),
        comparison.columns_from((count + 1) // 2, count),
    )
    return [*fitting(left, console), *fitting(right, console)]


def comparison_table(comparison: ComparisonTable) -> Table:
    """A table of ours; columns that were published get three sub-columns."""
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("", no_wrap=True)
    published = comparison.published_columns
    for column, flag in zip(comparison.columns, published, strict=True):
        name, mark = column.short or column.name, f" {MARK}" if column.mark else ""
        if flag:
            table.add_column(f"{name}\npublished", justify="right", style="dim", no_wrap=True)
            table.add_column(f"\nhere{mark}", justify="right", no_wrap=True)
            table.add_column("\nratio", justify="right", style="dim", no_wrap=True)
        else:
            table.add_column(name.replace(", ", "\n") + mark, justify="right", no_wrap=True)
    for row in comparison.rows:
        table.add_row(row.heading, *chain.from_iterable(row.texts(comparison.columns, published)))
    return table


def verdict_line(verdict: Verdict) -> Text:
    """Outcome first, then the claim, its basis when agreement is no evidence, and the reason."""
    outcome = verdict.judgement.outcome
    line = Text()
    line.append(f"{outcome}: ", style=OUTCOME_STYLES[outcome])
    line.append(verdict.claim.text)
    if verdict.claim.basis is not Basis.PREDICTION:
        line.append(f" ({basis_text(verdict.claim)})", style="dim")
    line.append(f": {verdict.reason}", style="dim")
    return line


def print_growth(console: Console, result: ReproduceResult) -> None:
    """Print which verdicts more trials changed, and what the time was spent on."""
    if result.growth is None:
        return
    show(console, "", Text("More trials", style="bold"), *told(result))
    for name, verdict in result.changed:
        line = Text(f"{name}: ").append_text(verdict_line(verdict))
        _say(console, line.append(f" (was: {_before(verdict)})", style="dim"))


def _before(verdict: Verdict) -> str:
    return "" if verdict.before is None else f"{verdict.before.outcome}"


def print_summary(console: Console, result: ReproduceResult) -> None:
    """Print the conclusion: what was found, what holds, what does not, and where to look, in this order."""
    show(console, "")
    if result.interrupted:
        places = "the tables and the report" if result.report_path is not None else "the tables"
        words = f"Interrupted: only what had finished is in {places}; the same call goes on from here."
        show(console, Text(words, style="yellow"))
    if result.resumed:
        show(console, f"{result.resumed} points are from an earlier call; --fresh runs them again.")
    show(console, *result.not_run())
    if not result.verdicts:
        show(console, "No run finished.")
    else:
        show(console, Text("Conclusion", style="bold"))
        for one in result.findings:
            _say(console, Text.assemble((f"{one.figure}: ", "bold"), one.text))
        show(console, tally(result.counts))
        _print_holding(console, result)
        _print_open(console, result)
    if result.report_path is not None:
        console.print(f"Report: {result.report_path}", soft_wrap=True, highlight=False, markup=False)


def _print_holding(console: Console, result: ReproduceResult) -> None:
    """One line an experiment: how many of its claims hold."""
    shares = []
    for one in result.experiments:
        counted = [v for v in one.verdicts if v.judgement.outcome is not Outcome.SET_UP]
        holding = sum(v.judgement.outcome is Outcome.HOLDS for v in counted)
        shares.append(f"{one.experiment.name} {holding} of {len(counted)}")
    _say(console, Text.assemble(("holds: ", OUTCOME_STYLES[Outcome.HOLDS]), ", ".join(shares)))


def _print_open(console: Console, result: ReproduceResult) -> None:
    """Every claim that does not hold, cut to one line of a terminal; a file has it whole."""
    for name, verdict in result.open_claims:
        outcome = verdict.judgement.outcome
        price = f": {verdict.price.text}" if verdict.price is not None else ""
        words = f"{name}: {verdict.claim.text}{price}"
        line = Text.assemble((f" {outcome}: ", OUTCOME_STYLES[outcome]), words)
        if console.is_terminal:
            line.truncate(console.width, overflow="ellipsis")
        console.print(line, soft_wrap=True)
