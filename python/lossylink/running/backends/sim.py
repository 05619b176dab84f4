"""The simulator: each job is one simulation of the native module, which gives a row and columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from lossylink import _native
from lossylink.declared.backend import Backend
from lossylink.declared.job import Job, Part, Progress
from lossylink.declared.table import Table


def _measure(job: Job, report: Progress) -> Part:
    return _part(job, _simulation(job).run(report))


def _grow(job: Job, report: Progress, looks: Sequence[int], is_enough: Callable[[Part], bool]) -> Part:
    def ask(outcome: _native.Outcome) -> bool:
        return is_enough(_part(job, outcome))

    return _part(job, _simulation(job).grow(report, looks, ask))


def _run_blocks(job: Job, report: Progress, first: int, count: int) -> str:
    part = _simulation(job).run_blocks(report, first, count)
    if part is None:
        raise KeyboardInterrupt
    return part


def _gather_blocks(job: Job, parts: Sequence[str]) -> Part:
    return _part(job, _simulation(job).run(parts=parts))


def _simulation(job: Job) -> _native.Simulation:
    return _native.Simulation(json.dumps(job.configuration))


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
