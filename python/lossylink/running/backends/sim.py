"""The simulator: each job is one simulation of the native module, which gives a row and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lossylink import _native
from lossylink.declared.backend import Backend
from lossylink.declared.job import Job, Part, Progress
from lossylink.declared.table import Table


def _measure(job: Job, report: Progress) -> Part:
    return _part(job, job.setup.simulation.run(report, threads=job.threads))


def _grow(job: Job, report: Progress, looks: Sequence[int], is_enough: Callable[[Part], bool]) -> Part:
    def ask(outcome: _native.Outcome) -> bool:
        return is_enough(_part(job, outcome))

    return _part(job, job.setup.simulation.grow(report, looks, ask, threads=job.threads))


def _run_blocks(job: Job, report: Progress, first: int, count: int) -> str:
    part = job.setup.simulation.run_blocks(report, first, count, threads=job.threads)
    if part is None:
        raise KeyboardInterrupt
    return part


def _gather_blocks(job: Job, parts: Sequence[str]) -> Part:
    return _part(job, job.setup.simulation.run(threads=job.threads, parts=parts))


def _part(job: Job, outcome: _native.Outcome) -> Part:
    tables = {name: Table.of(job.label, columns) for name, columns in outcome["columns"].items()}
    row, states, interrupted = outcome["row"], outcome["states"], outcome["interrupted"]
    return Part(row=row, tables=tables, states=states, interrupted=interrupted)


BACKEND = Backend(
    name="sim",
    measure=_measure,
    grow=_grow,
    run_blocks=_run_blocks,
    gather_blocks=_gather_blocks,
    listens=True,
)
