"""After the published amounts of work: more of it, until claims are decided or time is up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lossylink.charts.palette import name_of
from lossylink.reproduce.framework.model import Grown, Job, Place, Price, Verdict
from lossylink.reproduce.framework.points import PointStore
from lossylink.reproduce.framework.result import ExperimentResult, Growth, ReproduceResult
from lossylink.reproduce.framework.runner import Report, Runner
from lossylink.reproduce.growth.amounts import amount_of, said, with_amount
from lossylink.reproduce.growth.contest import Contest, contests
from lossylink.reproduce.growth.growing import grow
from lossylink.reproduce.growth.pricing import price_of_full_form, prices
from lossylink.reproduce.growth.samples import Clock, Sample
from lossylink.reproduce.growth.work import Work, work_of


@dataclass(frozen=True, kw_only=True)
class Means:
    """With what more work is done."""

    runner: Runner
    store: PointStore
    seed: int
    threads: int
    clock: Clock
    started: float
    """By the clock, when the whole reproduction began."""
    budget_seconds: float
    """For the whole reproduction; nothing grows without one."""
    closing_seconds: float
    """What it takes to write the report at the end, as it took the first time."""

    @property
    def deadline(self) -> float:
        """By the clock, when the last sample has grown."""
        return self.started + self.budget_seconds - self.closing_seconds


def grown(result: ReproduceResult, means: Means, report: Report) -> ReproduceResult:
    """The result with the verdicts that more work gives, and the price of each claim that stays open."""
    began = means.clock()
    samples = _samples(result.experiments, means)
    contested = [
        contests(one.finished, one.verdicts, samples[one.experiment.name], means.clock)
        for one in result.experiments
    ]
    every = [contest for of_one in contested for contest in of_one.values()]
    stopped = means.budget_seconds > 0 and _grow(every, means, report)
    ended = means.clock()
    priced = dict(zip(map(id, every), prices(every, spent_seconds=ended - means.started), strict=True))
    experiments = tuple(
        _judged(one, of_one, priced, seed=means.seed)
        for one, of_one in zip(result.experiments, contested, strict=True)
    )
    growth = Growth(means.budget_seconds, began - means.started, ended - began)
    provenance = replace(result.provenance, wall_seconds=ended - means.started)
    return replace(result, experiments=experiments, growth=growth, provenance=provenance, interrupted=stopped)


def _grow(every: Sequence[Contest], means: Means, report: Report) -> bool:
    """Go on from where earlier calls ended, until time is up; returns whether Ctrl-C came."""
    began, deadline = means.clock(), means.deadline

    def tell(_done: float, _total: float) -> None:
        report(means.clock() - began, deadline - began)

    for sample in {id(one): one for contest in every for one in contest.samples.values()}.values():
        sample.resume(tell)
    return grow(every, clock=means.clock, deadline=deadline, report=tell)


def _samples(experiments: Iterable[ExperimentResult], means: Means) -> dict[str, dict[Place, Sample]]:
    """A sample for each place that may grow; works alike are one sample, in whatever experiments."""
    works = [
        (one, job, protection, *_work(job, protection, means))
        for one in experiments
        for job in one.jobs
        for protection in job.protections
        if job.grows and job.key in one.finished.runs
    ]
    longest: dict[str, Sample] = {}
    for _, job, protection, work, seconds in sorted(works, key=lambda found: -found[3].published):
        longest.setdefault(work.identity, Sample(job, protection, work, seconds=seconds))
    found: dict[str, dict[Place, Sample]] = {one.experiment.name: {} for one in experiments}
    for one, job, protection, work, _ in works:
        found[one.experiment.name][(job.key, protection)] = longest[work.identity]
    return found


def _work(job: Job, protection: str, means: Means) -> tuple[Work, float]:
    return work_of(job, protection, means.runner, means.store, seed=means.seed, threads=means.threads)


def _judged(
    result: ExperimentResult,
    contested: Mapping[str, Contest],
    priced: Mapping[int, Price | None],
    *,
    seed: int,
) -> ExperimentResult:
    """The experiment with the verdicts of all that its samples have."""
    verdicts = []
    for verdict in result.verdicts:
        contest = contested.get(verdict.claim.text)
        if contest is None:
            verdicts.append(replace(verdict, price=price_of_full_form(result, verdict)))
            continue
        price = priced[id(contest)]
        if contest.has_grown:
            verdicts.append(_verdict(contest, {job.key: job for job in result.jobs}, price, seed))
        else:
            verdicts.append(replace(verdict, price=price))
    runs = {
        place: sample.run
        for contest in contested.values()
        for place, sample in contest.samples.items()
        if sample.run is not None
    }
    return replace(result, verdicts=tuple(verdicts), longest=runs)


def _verdict(contest: Contest, jobs: Mapping[str, Job], price: Price | None, seed: int) -> Verdict:
    records = tuple(
        _record(jobs[job], protection, sample, seed)
        for (job, protection), sample in contest.samples.items()
        if sample.run is not None
    )
    judgement = contest.judgement
    said_too = f"{judgement.reason}; {_amounts(contest)}, {contest.confidence * 100:g} % interval"
    return Verdict(
        contest.claim, replace(judgement, reason=said_too), contest.before.judgement, records, price
    )


def _record(job: Job, protection: str, sample: Sample, seed: int) -> Grown:
    command = with_amount(replace(job, protections=(protection,)), sample.amount).command(seed=seed)
    return Grown(job.key, protection, job.grows, amount_of(job), sample.amount, sample.seconds, command)


def _amounts(contest: Contest) -> str:
    """How much work the verdict rests on, in words.

    All samples of a claim are named where they differ.
    """
    amounts = {sample.amount for sample in contest.samples.values()}
    if len(amounts) == 1:
        each = " each" if len(contest.samples) > 1 else ""
        return f"{said(contest.key, amounts.pop())}{each}"
    jobs = {job for job, _ in contest.samples}
    return ", ".join(
        f"{name_of(protection)}{f' ({job})' if len(jobs) > 1 else ''}: {said(contest.key, sample.amount)}"
        for (job, protection), sample in contest.samples.items()
    )
