"""A runner that keeps what it finishes, and gives back what an earlier call finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars
from msgspec import structs

from lossylink.reproduce.framework.model import Job
from lossylink.reproduce.framework.points import PointStore
from lossylink.reproduce.framework.runner import Report, Runner
from lossylink.results.result import alike
from lossylink.running.run import Run
from lossylink.scenario.resolving import resolve
from lossylink.scenario.scenario import Scenario


@dataclass(frozen=True)
class Resuming:
    """Runs with ``runner`` those points of a job that ``store`` does not have."""

    runner: Runner
    store: PointStore

    def __call__(self, job: Job, *, seed: int, threads: int, report: Report) -> Run:
        """Run what is missing; an interruption gives what there is, marked as interrupted."""
        points = {protection: scenario_of(job, (protection,), seed) for protection in job.protections}
        loaded = {protection: self.store.load(scenario) for protection, scenario in points.items()}
        finished = {protection: run for protection, run in loaded.items() if run is not None}
        interrupted = False
        for missing in _batches(points, finished):
            tell = _share(report, before=len(finished), these=len(missing), whole=len(points))
            try:
                part = replace(job, protections=missing)
                run = self.runner(part, seed=seed, threads=threads, report=tell)
            except KeyboardInterrupt:
                if not finished:
                    raise
                interrupted = True
                break
            finished |= {protection: _only(run, protection) for protection in missing}
            if run.interrupted:
                interrupted = True
                break
            for protection in missing:
                self.store.keep(points[protection], finished[protection])
        parts = [finished[protection] for protection in job.protections if protection in finished]
        return _joined(parts, scenario_of(job, job.protections, seed), interrupted=interrupted)


def scenario_of(job: Job, protections: Sequence[str], seed: int) -> Scenario:
    """Return what a job resolves to under some of its protections."""
    return resolve(job.experiment, settings=dict(job.settings), protection=list(protections), seed=seed)


def _batches(points: dict[str, Scenario], finished: dict[str, Run]) -> list[tuple[str, ...]]:
    """What to run together: one point where it uses all threads by itself, else all that is missing."""
    missing = tuple(protection for protection in points if protection not in finished)
    experiments = [points[protection].experiment for protection in missing]
    if any(one.spreads == "trials" or one.is_study for one in experiments):
        return [(protection,) for protection in missing]
    return [missing] if missing else []


def _share(report: Report, *, before: int, these: int, whole: int) -> Report:
    """Report the progress of some of the points as that of the job."""

    def tell(done: float, total: float) -> None:
        report(before + (these * done / total if total > 0 else 0.0), whole)

    tell(0.0, 1.0)
    return tell


def _only(run: Run, protection: str) -> Run:
    """The part of a run that one protection gave."""
    tables = {name: _rows_of(table, protection) for name, table in run.tables.items()}
    present = {name: table for name, table in tables.items() if not table.is_empty()}
    records = [row for row in run.records if row.get("protection", protection) == protection]
    return structs.replace(run, records=records, parts=present)


def _rows_of(table: polars.DataFrame, protection: str) -> polars.DataFrame:
    if "protection" not in table.columns:
        return table
    return table.filter(polars.col("protection") == protection)


def _joined(parts: Sequence[Run], whole: Scenario, *, interrupted: bool) -> Run:
    """The run of the whole job; rows are joined as values, because one read from JSON has other types."""
    names = dict.fromkeys(name for part in parts for name in part.tables)
    return structs.replace(
        parts[0],
        wall_seconds=sum(part.wall_seconds for part in parts),
        scenario=whole.describe(),
        records=alike([row for part in parts for row in part.records]),
        parts={
            name: polars.concat(
                [part.tables[name] for part in parts if name in part.tables], how="diagonal_relaxed"
            )
            for name in names
        },
        interrupted=interrupted,
    )
