"""The report of a reproduction as a page: findings, verdicts, what moves them, tables, files and commands."""

from __future__ import annotations

from pathlib import Path

from lossylink.charts.report.page import (
    Command,
    Finding,
    Heading,
    Line,
    Page,
    Section,
    Statement,
    Statements,
    Table,
    page_of,
)
from lossylink.charts.report.sketch import Sketch
from lossylink.reproduce.framework.comparison import ComparisonTable
from lossylink.reproduce.framework.files import figure_links, guide_links, run_links
from lossylink.reproduce.framework.kept import Kept
from lossylink.reproduce.framework.method import METHOD
from lossylink.reproduce.framework.model import QUICK_DIVISOR, Basis, Job, Outcome, Verdict
from lossylink.reproduce.framework.quantity import duration, figure
from lossylink.reproduce.framework.result import ExperimentResult, ReproduceResult
from lossylink.reproduce.framework.tally import tally
from lossylink.reproduce.growth.telling import grown_line, places, told
from lossylink.reproduce.reproduction.moved import moved_by, was_followed
from lossylink.scenario.save import scenario_toml
from lossylink.units import parse_rate

STYLES = {
    Outcome.HOLDS: "holds",
    Outcome.REFUTED: "refuted",
    Outcome.FAILS: "fails",
    Outcome.UNDECIDED: "undecided",
    Outcome.UNDECIDABLE: "undecided",
    Outcome.SET_UP: "set-up",
    Outcome.NOT_RUN: "not-run",
}


def page_of_result(result: ReproduceResult, output: Path) -> Page:
    """The page; ``output`` is the directory that it will stand in, with the files that it links to."""
    record = result.provenance
    threads = f"{record.threads} {'thread' if record.threads == 1 else 'threads'}"
    leads = [one.experiment.lead for one in result.experiments if one.experiment.lead and one.charts]
    return page_of(
        title="Published experiments, run again",
        meta=f"lossylink {record.versions['lossylink']}, {record.finished_at}, seed {record.seed}, "
        f"{threads}, {duration(record.wall_seconds)} of wall time on {record.machine['processor']}",
        notices=_notices(result),
        findings=[Finding(one.figure, one.text, one.reason, one.experiment) for one in result.findings],
        lead=leads[0] if leads else "",
        tally=tally(result.counts),
        sections=[_section(one, result, output) for one in result.experiments],
        method=METHOD,
        provenance=record,
    )


def _notices(result: ReproduceResult) -> list[str]:
    notices = []
    if result.interrupted:
        notices.append(
            "Partial. The run was interrupted: only what had finished is shown, and claims that need more "
            "say so."
        )
    if result.quick:
        notices.append(
            f"Quick look. Every experiment is {QUICK_DIVISOR} times smaller than published, so rare events "
            "are rarer still: expect claims about the tail to stay open."
        )
    return [*notices, *told(result), *result.not_run()]


def _section(result: ExperimentResult, whole: ReproduceResult, output: Path) -> Section:
    experiment, runs = result.experiment, result.finished.runs
    finished = sum(1 for job in result.jobs if job.key in runs and not runs[job.key].interrupted)
    count = f"{finished} runs" if result.is_complete else f"{finished} of {len(result.jobs)} runs"
    form = "quick form, " if result.is_quick else ""
    more = [places(result.grown)] if result.grown else []
    unfollowed = () if was_followed(experiment.name) else (UNFOLLOWED,)
    return Section(
        identifier=experiment.name,
        title=experiment.title,
        summary=experiment.summary,
        source=f"Published in: {experiment.source}.",
        remark="; ".join(
            [f"{form}{count}, {duration(sum(run.wall_seconds for run in runs.values()))}", *more]
        ),
        sketch=_sketch(result),
        notices=tuple(f"A run failed. {key}: {reason}" for key, reason in result.failures.items()),
        charts=result.charts,
        claims=(
            Statements("Claims", _statements(experiment.name, result.verdicts)),
            *([] if result.kept is None else [_kept(result.kept)]),
        ),
        tables=tuple(table_of(table) for table in result.tables),
        budgets=result.budgets,
        notes=(*experiment.notes, *unfollowed),
        commands=(
            *(_command(job, result, whole.provenance.seed, output) for job in result.jobs),
            *(Command(grown_line(one), one.command) for one in result.grown),
        ),
        figures=figure_links(whole.figures.get(experiment.name, ()), output),
        guides=guide_links(experiment.guides, output),
    )


UNFOLLOWED = (
    "Which fitted or assumed values move these claims was not followed: the experiment takes too long for it."
)


def _sketch(result: ExperimentResult) -> Sketch | None:
    """The path with rate and loss of the first run; none when nothing ran."""
    runs = result.finished.runs
    first = next((runs[job.key].scenario for job in result.jobs if job.key in runs), None)
    if result.experiment.route is None or first is None or "link" not in first or "loss" not in first:
        return None
    loss = first["loss"].get("forward_ratio", 0.0)
    loses = f"loses {figure(loss * 100)} %" if loss else "loses nothing"
    rate_gbps = parse_rate(first["link"]["rate"]) / 1e9
    return Sketch(result.experiment.route, f"{rate_gbps:g} Gb/s, {loses}")


def _statements(name: str, verdicts: tuple[Verdict, ...]) -> tuple[Statement, ...]:
    return tuple(
        Statement(
            identifier=f"{name}-claim-{number}",
            style=STYLES[verdict.judgement.outcome],
            outcome=str(verdict.judgement.outcome),
            text=verdict.claim.text,
            reason=verdict.reason,
            source=verdict.claim.source,
            basis="" if verdict.claim.basis is Basis.PREDICTION else str(verdict.claim.basis),
            rests_on=verdict.claim.rests_on,
            moved=moved_by(name, verdict.claim.text),
        )
        for number, verdict in enumerate(verdicts, 1)
    )


def _kept(kept: Kept) -> Statements:
    """A full run from before."""
    statements = tuple(
        Statement(
            f"{kept.name}-kept-{number}",
            STYLES[one.outcome],
            str(one.outcome),
            one.claim,
            one.reason,
            one.source,
        )
        for number, one in enumerate(kept.verdicts, 1)
    )
    return Statements("Claims, in full", statements, f"{kept.origin}. {kept.tally}", of_this_run=False)


def table_of(table: ComparisonTable) -> Table:
    """A table with texts instead of numbers: published, ours and their ratio where a column was published."""
    published = table.published_columns
    parts = [
        ("published", "here", "ratio") if flag else ("here" if any(published) else "",) for flag in published
    ]
    return Table(
        table.title,
        tuple(
            Heading(column.name, column.mark, part) for column, part in zip(table.columns, parts, strict=True)
        ),
        tuple(Line(row.heading, tuple(row.texts(table.columns, published))) for row in table.rows),
        table.note,
    )


def _command(job: Job, result: ExperimentResult, seed: int, output: Path) -> Command:
    """A job's command line, its resolved scenario, its files and what became of it."""
    run = result.finished.runs.get(job.key)
    if run is None:
        failure = result.failures.get(job.key)
        state = f" (failed: {failure})" if failure else " (not run)"
    else:
        state = " (interrupted)" if run.interrupted else f" ({duration(run.wall_seconds)})"
    return Command(
        f"{job.experiment}, {job.key}{state}",
        job.command(seed=seed),
        "" if run is None else scenario_toml(run.scenario),
        () if run is None else run_links(result.experiment.name, job.key, output),
    )
