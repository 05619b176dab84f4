"""Runs published experiments one after another, prints what they gave and writes the report.

An interruption keeps every point that finished: their tables and verdicts are printed and reported, the
report says that it is partial, and the next call with the same output goes on where this one was left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from lossylink._package import published as published_figures
from lossylink._package.holding import make_way, worker_files
from lossylink._package.progress import progress_bar
from lossylink.charts.report.provenance import provenance
from lossylink.errors import LossylinkError
from lossylink.reproduce.framework.model import Finished, Job, Published, judge
from lossylink.reproduce.framework.points import PointStore
from lossylink.reproduce.framework.progress import OverallProgress
from lossylink.reproduce.framework.result import ExperimentResult, ReproduceResult
from lossylink.reproduce.framework.resuming import Resuming
from lossylink.reproduce.framework.runner import Report, Runner, simulate
from lossylink.reproduce.framework.spreading import spread
from lossylink.reproduce.growth.phase import Means, grown
from lossylink.reproduce.growth.samples import Clock
from lossylink.reproduce.reproduction import registry
from lossylink.reproduce.reproduction.deliver import deliver, name_files, prepare, save_figures, write
from lossylink.reproduce.reproduction.registry import Chosen
from lossylink.reproduce.reproduction.terminal import print_experiment, print_growth, print_summary
from lossylink.results.drawn import new_console
from lossylink.running.run import Run
from lossylink.running.sweeping.executors import Asked, check_options

Done = TypeVar("Done")
POINTS_NAME = "points"
"""Where finished points are kept, below the output directory."""


def reproduce(
    *,
    output: Path,
    replace: bool = False,
    only: Sequence[str] | None = None,
    quick: bool = False,
    backend: str = "sim",
    seed: int = 1,
    threads: int = 2,
    fresh: bool = False,
    progress: bool = True,
    with_figures: bool = True,
    runner: Runner = simulate,
    published: Published | None = None,
    budget_seconds: float = 0.0,
    clock: Clock = time.monotonic,
    executor: str | None = None,
    scheduler: str | None = None,
    slurm: Mapping[str, str] | None = None,
    command: Sequence[str] | None = None,
    console: Console | None = None,
) -> ReproduceResult:
    """Run the published experiments, print each table beside the published one, and write the report.

    Parameters
    ----------
    output
        Directory for ``report.html``, figures and ``reproduce.json``; made when absent.
    replace
        Take the place of another result in ``output``, such as that of a sweep, when the report is written.
    only
        Names of experiments; without any all, the largest in their quick form, see `registry.choose`.
    quick
        Makes every experiment `QUICK_DIVISOR` times smaller.
    backend
        What measures: the simulator, or ``kernel``, which runs those experiments that have real hosts.
    seed
        Seed of every run.
    threads
        Threads of every run; the rows do not depend on it.
    fresh
        Whether to run again what an earlier call with this ``output`` finished.
    progress
        Whether to show a progress bar with an ETA on stderr.
    with_figures
        Whether to save figures for papers beside the report.
    runner
        Runs a job; the native simulator unless a test says otherwise.
    published
        The published figures; those of ``reference/published.toml`` by default.
    budget_seconds
        For the whole reproduction. What the published amounts of work leave of it goes to more trials for
        claims that are open. Without any the published amounts decide alone.
    clock
        Measures the time; the system's own unless a test says otherwise.
    executor, scheduler, slurm
        Who runs the points, each with one thread, as for `lossylink.sweep`; by default this process runs them
        one after another with all ``threads``. The figures are the same.
    command
        The command line to print in the report; the process's own by default.
    console
        Where tables and verdicts are printed; stdout by default.

    Raises
    ------
    ValueError
        ``output`` holds another result, or ``only`` names an experiment that does not exist.
    OSError
        ``output`` cannot be written; nothing has been run then.
    """
    chosen = registry.choose(only, quick=quick, backend=backend)
    figures = published if published is not None else published_figures.load()
    held = prepare(output, replace=replace)
    planned = [(one, _on(backend, one.experiment.jobs(one.scale))) for one in chosen]
    store = PointStore(output / POINTS_NAME, fresh=fresh)
    console = console if console is not None else new_console()
    started = clock()
    if executor is not None:
        asked = Asked(threads=threads, scheduler=scheduler, slurm=slurm or {}, folder=output)
        check_options(executor, asked)
        every = [job for _, jobs in planned for job in jobs]
        spreading = partial(spread, every, store, seed=seed, executor=executor, asked=asked)
        if _told("points", lambda report: spreading(report=report), shown=progress):
            runner = _stopped
    resuming = Resuming(runner, store)
    results, interrupted = _run_all(
        planned, resuming, console, figures, seed=seed, threads=threads, shown=progress
    )
    record = provenance(seed=seed, threads=threads, wall_seconds=clock() - started, command=command)
    ran = {one.experiment.name for one in results}
    left_out = tuple(name for name in registry.names(backend) if name not in ran)
    result = ReproduceResult(
        tuple(results), record, quick, interrupted, resumed=store.resumed, left_out=left_out
    )
    if held is not None and result.interrupted:
        # What was stopped takes no other result's place; its points are kept.
        print_summary(console, result)
        console.print(f"{output} still holds {held.words}.", highlight=False, soft_wrap=True)
        return result
    ended = clock()
    result = deliver(result, output)
    closing_seconds = clock() - ended
    try:
        if with_figures:
            result = _told("figures", partial(save_figures, result, output), shown=progress)
        if backend == "sim" and not result.interrupted:
            means = Means(
                runner=runner,
                store=store,
                seed=seed,
                threads=threads,
                clock=clock,
                started=started,
                budget_seconds=budget_seconds,
                closing_seconds=closing_seconds,
            )
            growing = partial(grown, result, means)
            result = write(_told("more trials, by the time of the budget", growing, shown=progress), output)
            print_growth(console, result)
    finally:
        print_summary(console, result)
        files = {Path(name) for name in name_files(result, output)}
        if held is not None:
            points = {path.relative_to(output) for path in worker_files(output) if path.suffix == ".zip"}
            make_way(output, held.files - files - points)
    return result


def _on(backend: str, jobs: tuple[Job, ...]) -> tuple[Job, ...]:
    """Return the jobs as another backend carries them out."""
    if backend == "sim":
        return jobs
    return tuple(changed(job, settings={**job.settings, "run.backend": backend}) for job in jobs)


def _stopped(job: Job, *, seed: int, threads: int, report: Report) -> Run:
    """Run nothing more: an executor was interrupted."""
    del job, seed, threads, report
    raise KeyboardInterrupt


def _told(title: str, work: Callable[[Report], Done], *, shown: bool) -> Done:
    """Do work that reports how far it is, with a bar if it is to be shown."""
    if not shown:
        return work(lambda _done, _total: None)
    with progress_bar(title) as tell:
        return work(tell)


def _run_all(
    planned: Sequence[tuple[Chosen, tuple[Job, ...]]],
    runner: Runner,
    console: Console,
    figures: Published,
    *,
    seed: int,
    threads: int,
    shown: bool,
) -> tuple[list[ExperimentResult], bool]:
    """Run the experiments and print each as it ends; returns what they gave and whether Ctrl-C came."""
    results: list[ExperimentResult] = []
    with OverallProgress([job for _, jobs in planned for job in jobs], shown=shown) as overall:
        for chosen, jobs in planned:
            batch = _run_jobs(jobs, runner, overall, seed=seed, threads=threads)
            if batch.runs or batch.failures:
                results.append(_evaluate(chosen, jobs, batch, figures))
                overall.print_above(lambda: print_experiment(console, results[-1]))
            if batch.interrupted:
                return results, True
    return results, False


@dataclass
class _Batch:
    """What the jobs of one experiment gave, however it ended."""

    runs: dict[str, Run] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False


def _run_jobs(
    jobs: Sequence[Job], runner: Runner, overall: OverallProgress, *, seed: int, threads: int
) -> _Batch:
    """Run jobs until the last or an interruption; a job that fails leaves the others alone."""
    batch = _Batch()
    for job in jobs:
        try:
            with overall.job(job) as report:
                run = runner(job, seed=seed + job.seed_offset, threads=threads, report=report)
        except KeyboardInterrupt:
            batch.interrupted = True
            return batch
        except LossylinkError as error:
            batch.failures[job.key] = str(error)
            continue
        if not run.rows.is_empty():
            batch.runs[job.key] = run
        if run.interrupted:
            batch.interrupted = True
            return batch
    return batch


def _evaluate(chosen: Chosen, jobs: tuple[Job, ...], batch: _Batch, published: Published) -> ExperimentResult:
    experiment, finished = chosen.experiment, Finished(batch.runs)
    return ExperimentResult(
        experiment,
        jobs,
        finished,
        experiment.tables(finished, published),
        tuple(judge(claim, finished) for claim in experiment.claims(published)),
        experiment.charts(finished, published),
        experiment.budgets(finished),
        batch.failures,
        chosen.scale,
    )
