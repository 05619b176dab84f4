"""What a published experiment is made of: the runs it needs, the tables it fills and the claims it tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
import polars
from numpy.typing import NDArray

from lossylink._package.published import Published as Published
from lossylink.charts.chart import Chart, Sheet
from lossylink.charts.link_budget import LinkBudget
from lossylink.declared.table import Table
from lossylink.reproduce.framework.comparison import ComparisonTable
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.running.run import Run
from lossylink.scenario.route import Route
from lossylink.statistics import CONFIDENCE
from lossylink.statistics.estimates import Estimate

QUICK_DIVISOR = 20
"""``--quick`` makes every experiment this many times smaller."""


@dataclass(frozen=True)
class Scale:
    """Size of the experiments: 1 as published, larger for a quick look."""

    divisor: int = 1

    def of(self, count: int, *, at_least: int = 1) -> int:
        """Scale a count of packets, trials or flows down."""
        return max(at_least, count // self.divisor)


@dataclass(frozen=True)
class Job:
    """One call of ``lossylink.run``.

    ``weight`` is its expected share of the work, for the ETA; ``seed_offset`` sets repeated runs apart.
    ``grows`` is the setting whose amount of work may be raised until the claims about the job are decided;
    without one the job runs as it is published.
    """

    key: str
    experiment: str
    protections: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    seed_offset: int = 0
    grows: str = ""

    def command(self, *, seed: int) -> str:
        """The command line that runs this job again."""
        words = ["lossylink", "run", self.experiment]
        words += [f"--protection {protection}" for protection in self.protections]
        words += [f"--set {key}={_setting(value)}" for key, value in self.settings.items()]
        return " ".join([*words, f"--seed {seed + self.seed_offset}"])


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


Place: TypeAlias = tuple[str, str]
"""A job and a protection: where a sample comes from."""


@dataclass(frozen=True)
class Finished:
    """The finished runs of one experiment, by job key.

    ``grown`` has longer runs of some places, which stand before those of the published amount. Intervals of
    samples have the confidence ``confidence``.
    """

    runs: Mapping[str, Run]
    grown: Mapping[Place, Run] = field(default_factory=dict)
    confidence: float = CONFIDENCE

    def run(self, job: str) -> Run:
        """The run of a job, all protections, or `NotRunError`."""
        if job not in self.runs:
            raise NotRunError(f"{job} was not run")
        return self.runs[job]

    def of(self, job: str, protection: str) -> Run:
        """The longest run that has one protection of a job, or `NotRunError`."""
        return self.grown.get((job, protection)) or self.run(job)

    def row(self, job: str, protection: str) -> dict[str, Any]:
        """The row of one protection, or `NotRunError`."""
        rows = self.of(job, protection).rows.filter(polars.col("protection") == protection)
        if rows.is_empty():
            raise NotRunError(f"{job} has no row for {protection}")
        return rows.row(0, named=True)

    def number(self, job: str, protection: str, key: str) -> float:
        """One number of a row, or `NotRunError` when the simulator did not give it."""
        value = self.row(job, protection).get(key)
        if value is None:
            raise NotRunError(f"{job} gave no {key} for {protection}")
        return float(value)

    def column(self, job: str, protection: str, table: str, name: str) -> NDArray[np.float64]:
        """One column of a table for one protection, or `NotRunError`."""
        run = self.of(job, protection)
        part = run.parts.get(table)
        if part is None or name not in part.columns:
            raise NotRunError(f"{job} gave no {table}.{name}")
        values = _column(part, protection, name)
        if values.size == 0:
            raise NotRunError(f"{job} has no {table} for {protection}")
        return values


def _column(part: Table | polars.DataFrame, protection: str, name: str) -> NDArray[np.float64]:
    """One column of one protection, without what is missing; the frame of a long run is not built for it."""
    if isinstance(part, Table):
        return np.asarray(part.values(protection, name) or (), dtype=np.float64)
    values = part.filter(polars.col("protection") == protection)[name].drop_nulls()
    return np.asarray(values.to_numpy(), dtype=np.float64)


@dataclass(frozen=True)
class Watched(Finished):
    """Finished runs that note of which places somebody read."""

    read: set[Place] = field(default_factory=set)

    def of(self, job: str, protection: str) -> Run:
        """Note the place and give its longest run."""
        self.read.add((job, protection))
        return super().of(job, protection)


class Outcome(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    """The simulation contradicts a statement of the source, and the reason says what is true instead."""
    FAILS = "fails"
    """The simulation misses a figure that the source measured, or a closed form."""
    UNDECIDED = "too few trials to tell"
    UNDECIDABLE = "undecidable at this percentile"
    """More trials would not help: the percentile lies at the edge between two kinds of flows."""
    SET_UP = "set-up"
    """The figure echoes the configuration, as it should."""
    NOT_RUN = "not run"


class Basis(StrEnum):
    """What the figure of a claim rests on."""

    PREDICTION = "prediction"
    """No value was fitted to the figure, and none was assumed that decides it."""
    CALIBRATED = "calibrated"
    """A value of a profile was fitted to this figure or to one beside it: agreement is no evidence."""
    ASSUMED = "assumed"
    """A value that no source gives decides the figure: agreement says that the assumption is possible."""
    SET_UP = "set-up"
    """The configuration itself, read back from the run."""
    THEORY = "theory"
    """Held against a closed form, not against a publication."""


@dataclass(frozen=True)
class Need:
    """How much more work would decide a claim that is open, if its figure stays where it is."""

    times: float = math.inf
    """So many times the work that was done; infinite where the figure lies on the bound."""
    trials: float = 0.0
    """The number of trials in place of it, where theory says the number."""
    place: Place | None = None
    """Whose trials; those of every place that the claim reads where theory does not say."""


@dataclass(frozen=True)
class Judgement:
    """An outcome, the figures it rests on and the sentence that says so.

    ``need`` says what would decide an open claim; nothing where more work of its jobs would not.
    """

    outcome: Outcome
    reason: str
    here: Estimate | None = None
    published: float | None = None
    need: Need | None = None


Judge = Callable[[Finished], Judgement]


@dataclass(frozen=True)
class Claim:
    """A statement of the publication, of a theory or of ours, that our runs can test."""

    text: str
    judge: Judge
    basis: Basis
    source: str
    rests_on: tuple[str, ...] = ()
    """Values that decide the figure and that no source gives: ``profile:key`` or the key of a setting."""
    of_published_amount: bool = False
    """Whether the claim is about the published amount of work, such as the least of so many trials: more of
    them would be the figure of something else."""


def basis_text(claim: Claim) -> str:
    """The basis, and the values that it means.

    Examples
    --------
    >>> basis_text(Claim("", lambda _: Judgement(Outcome.HOLDS, ""), Basis.ASSUMED, "", ("profile:key",)))
    'assumed: profile:key'
    """
    return f"{claim.basis}: {', '.join(claim.rests_on)}" if claim.rests_on else str(claim.basis)


@dataclass(frozen=True)
class Grown:
    """A place with more than the published amount of work, which a verdict rests on."""

    job: str
    protection: str
    key: str
    """The setting that was raised."""
    published: int
    amount: int
    """Of that setting: trials, or picoseconds of simulated time."""
    seconds: float
    """What its work took, in this call and in earlier ones."""
    command: str
    """The command line that runs it anew."""


@dataclass(frozen=True)
class Price:
    """What it would cost to decide a claim that is open, about."""

    text: str
    amount: float | None = None
    """More work, in the unit of the setting that grows; nothing where nobody can say."""
    seconds: float | None = None
    """On this machine, for this claim alone."""
    budget: str = ""
    """The ``--budget`` that has room for it, after all claims that are cheaper."""


@dataclass(frozen=True)
class Verdict:
    """A claim and its judgement.

    ``before`` is what the published amount of work said, where the judgement rests on more.
    """

    claim: Claim
    judgement: Judgement
    before: Judgement | None = None
    grown: tuple[Grown, ...] = ()
    price: Price | None = None

    @property
    def has_changed(self) -> bool:
        """Whether more work made another verdict."""
        return self.before is not None and self.before.outcome is not self.judgement.outcome

    @property
    def reason(self) -> str:
        """The reason, with what it would cost to decide the claim."""
        if self.price is None:
            return self.judgement.reason
        return f"{self.judgement.reason}; {self.price.text}"


def judge(claim: Claim, finished: Finished) -> Verdict:
    """Judge a claim; runs that are missing make it ``not run``, never a failure.

    A claim about the set-up that holds is ``set-up``.
    """
    try:
        judgement = claim.judge(finished)
    except NotRunError as missing:
        return Verdict(claim, Judgement(Outcome.NOT_RUN, str(missing)))
    if claim.basis is Basis.SET_UP and judgement.outcome is Outcome.HOLDS:
        judgement = replace(judgement, outcome=Outcome.SET_UP)
    return Verdict(claim, judgement)


def alone(charts: Sequence[Chart]) -> tuple[Sheet, ...]:
    """Put every chart on a sheet of its own, called after it."""
    return tuple(Sheet(chart.identifier, (chart,)) for chart in charts)


@dataclass(frozen=True)
class Insight:
    """What a run tells a reader who reads one sentence: a figure, the sentence and how well it is known."""

    rank: int
    """Those with lower numbers come first."""
    figure: str
    text: str
    reason: str


@dataclass(frozen=True)
class PublishedExperiment:
    """One published experiment, declared: everything that `reproduce` needs to run, print and draw it."""

    name: str
    title: str
    summary: str
    source: str
    needs: str
    """The experiment of `lossylink run` that it is made of."""
    place: int
    """Where it stands among the others: those with lower numbers run first."""
    jobs: Callable[[Scale], tuple[Job, ...]]
    tables: Callable[[Finished, Published], tuple[ComparisonTable, ...]]
    claims: Callable[[Published], tuple[Claim, ...]]
    charts: Callable[[Finished, Published], tuple[Chart, ...]]
    budgets: Callable[[Finished], tuple[LinkBudget, ...]] = lambda _finished: ()
    sheets: Callable[[Finished, Sequence[Chart]], tuple[Sheet, ...]] = lambda _finished, charts: alone(charts)
    """How its charts are put on paper."""
    insights: Callable[[Finished], tuple[Insight, ...]] = lambda _finished: ()
    """What matters most of it; raises `NotRunError` when a run is missing."""
    lead: str = ""
    """Identifier of its chart that may stand on top of a report."""
    route: Route | None = None
    """The nodes that its frames pass, where they have names."""
    guides: tuple[str, ...] = ()
    """Files of ``docs/guides`` about it."""
    notes: tuple[str, ...] = ()
    on_request: bool = False
    """Whether it is too large to run in full unless it is named: otherwise its quick form runs."""
