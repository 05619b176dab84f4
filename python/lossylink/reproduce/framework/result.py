"""What `reproduce` found: experiment by experiment, and as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from lossylink.charts.chart import Chart, Sheet
from lossylink.charts.link_budget import LinkBudget
from lossylink.charts.report.provenance import Provenance
from lossylink.reproduce.framework.comparison import ComparisonTable
from lossylink.reproduce.framework.kept import Kept, load
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import (
    Finished,
    Grown,
    Insight,
    Job,
    Outcome,
    Place,
    PublishedExperiment,
    Scale,
    Verdict,
)
from lossylink.running.run import Run

MOST_FINDINGS = 3
"""What a reader takes in at a glance."""


@dataclass(frozen=True)
class ExperimentResult:
    """A published experiment with what our runs gave; ``failures`` maps a job to why it gave nothing."""

    experiment: PublishedExperiment
    jobs: tuple[Job, ...]
    finished: Finished
    tables: tuple[ComparisonTable, ...]
    verdicts: tuple[Verdict, ...]
    charts: tuple[Chart, ...]
    budgets: tuple[LinkBudget, ...]
    failures: Mapping[str, str] = field(default_factory=dict)
    scale: Scale = field(default_factory=Scale)
    longest: Mapping[Place, Run] = field(default_factory=dict)
    """Runs of more than the published amount of work, on which verdicts and findings rest.

    Tables and charts show the published amount, beside what was published of it.
    """

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Its charts as they are put on paper."""
        return self.experiment.sheets(self.finished, self.charts)

    @cached_property
    def insights(self) -> tuple[Insight, ...]:
        """What matters most of it; nothing while a run that it needs is missing."""
        try:
            return self.experiment.insights(replace(self.finished, grown=self.longest))
        except NotRunError:
            return ()

    @property
    def grown(self) -> tuple[Grown, ...]:
        """Every place with more than the published amount of work."""
        records = (record for verdict in self.verdicts for record in verdict.grown)
        return tuple({(record.job, record.protection): record for record in records}.values())

    @property
    def is_quick(self) -> bool:
        """Whether it ran smaller than published."""
        return self.scale.divisor > 1

    @property
    def kept(self) -> Kept | None:
        """A full run from before, beside a quick one."""
        return load(self.experiment.name) if self.is_quick else None

    @property
    def is_complete(self) -> bool:
        """Whether every job ran to its end."""
        runs = self.finished.runs
        return all(job.key in runs and not runs[job.key].interrupted for job in self.jobs)


@dataclass(frozen=True)
class Found(Insight):
    """An insight with the name of its experiment."""

    experiment: str


@dataclass(frozen=True)
class Growth:
    """The time that a reproduction had, and how it was spent, in seconds."""

    budget_seconds: float
    published_seconds: float
    """Until the published amounts of work were done and drawn."""
    grown_seconds: float
    """On more work for open claims."""


@dataclass(frozen=True)
class ReproduceResult:
    """Everything that `reproduce` found."""

    experiments: tuple[ExperimentResult, ...]
    provenance: Provenance
    quick: bool
    interrupted: bool
    report_path: Path | None = None
    resumed: int = 0
    """Points that an earlier call had finished."""
    left_out: tuple[str, ...] = ()
    """Experiments that did not run: not asked for, or not reached."""
    figures: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    """Files of the figures that were saved, by experiment."""
    growth: Growth | None = None
    """Nothing where the call was interrupted before."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts of all experiments, in order."""
        return tuple(verdict for result in self.experiments for verdict in result.verdicts)

    @property
    def findings(self) -> tuple[Found, ...]:
        """The insights that matter most; those whose runs are missing are left out."""
        found = [
            Found(**vars(insight), experiment=result.experiment.name)
            for result in self.experiments
            for insight in result.insights
        ]
        return tuple(sorted(found, key=lambda one: one.rank)[:MOST_FINDINGS])

    @property
    def changed(self) -> tuple[tuple[str, Verdict], ...]:
        """Every claim of which more work made another verdict, with the name of its experiment."""
        return tuple(
            (result.experiment.name, verdict)
            for result in self.experiments
            for verdict in result.verdicts
            if verdict.has_changed
        )

    @property
    def grown(self) -> tuple[Grown, ...]:
        """Every place with more than the published amount of work; one that experiments share counts once."""
        records = (record for result in self.experiments for record in result.grown)
        return tuple({record.command: record for record in records}.values())

    @property
    def counts(self) -> Counter[Outcome]:
        """How many claims met each outcome."""
        return Counter(verdict.judgement.outcome for verdict in self.verdicts)

    @property
    def open_claims(self) -> tuple[tuple[str, Verdict], ...]:
        """Every claim that does not hold, with the name of its experiment, by outcome."""
        found = [
            (result.experiment.name, verdict)
            for result in self.experiments
            for verdict in result.verdicts
            if verdict.judgement.outcome not in {Outcome.HOLDS, Outcome.SET_UP}
        ]
        order = list(Outcome)
        return tuple(sorted(found, key=lambda one: order.index(one[1].judgement.outcome)))

    @property
    def quick_only(self) -> tuple[str, ...]:
        """Experiments that ran smaller than published although the call was not a quick look."""
        return () if self.quick else tuple(one.experiment.name for one in self.experiments if one.is_quick)

    def not_run(self) -> tuple[str, ...]:
        """What did not run, or not in full, and the command for it, a sentence each."""
        sentences = []
        if self.quick_only:
            names = self.quick_only
            sentences.append(
                f"In their quick form only: {', '.join(names)}. "
                f"In full: lossylink reproduce --only {','.join(names)}"
            )
        if self.left_out:
            sentences.append(
                f"Not run: {', '.join(self.left_out)}. "
                f"To run them: lossylink reproduce --only {','.join(self.left_out)}"
            )
        return tuple(sentences)

    @property
    def failures(self) -> dict[str, str]:
        """Jobs that failed, with the reason."""
        return {
            f"{result.experiment.name}, {key}": reason
            for result in self.experiments
            for key, reason in result.failures.items()
        }

    def exit_code(self, *, strict: bool = False) -> int:
        """0; 1 when a run failed or was interrupted or, in strict mode, when a claim fails."""
        broken = self.interrupted or bool(self.failures)
        return 1 if broken or (strict and self.counts[Outcome.FAILS] > 0) else 0
