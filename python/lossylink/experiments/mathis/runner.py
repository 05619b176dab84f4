"""Runs the study's simulations over threads, the longest first, and keeps what finished on Ctrl-C."""

from __future__ import annotations

import importlib
import json
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from lossylink.experiments.mathis.job import Job
from lossylink.pool import run_all

Progress = Callable[[float, float], None]
"""Called with the work done and the whole work, in expected segments, from any thread."""

Simulate = Callable[[str, Progress | None], Any]
"""`lossylink._native.simulate`, or a stand-in for it: configuration in JSON to a row and its columns."""


class _Overall:
    """Sums the progress of all jobs, each weighted by what it is expected to cost."""

    def __init__(self, jobs: Sequence[Job], tell: Progress | None) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._total = sum(job.plan.segments for job in jobs)
        self._done: dict[int, float] = {}

    def update(self, position: int, job: Job, share: float) -> None:
        """Take the share of one job that is done and pass the sum on."""
        if self._tell is None:
            return
        with self._lock:
            self._done[position] = share * job.plan.segments
            self._tell(sum(self._done.values()), self._total)


def run_jobs(
    jobs: Sequence[Job],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    simulate: Simulate | None = None,
) -> tuple[list[tuple[Job, dict[str, Any]]], bool]:
    """Simulate every job.

    Parameters
    ----------
    jobs
        What to run; results keep this order whatever the number of threads.
    threads
        Simulations at the same time (they release the interpreter lock); `None` for one a core.
    progress
        See `Progress`.
    simulate
        Stand-in for the compiled simulator.

    Returns
    -------
    tuple
        The finished jobs with their native rows, and whether Ctrl-C cut the study short.

    Raises
    ------
    ValueError
        The simulator refused a configuration; nothing more is started then.
    """
    call = simulate or _native_simulate()
    overall = _Overall(jobs, progress)

    def work(position: int, stop: threading.Event) -> tuple[int, dict[str, Any] | None]:
        return position, _simulate(position, jobs[position], call, stop, overall)

    longest_first = sorted(range(len(jobs)), key=lambda at: -jobs[at].plan.segments)
    workers = threads or len(os.sched_getaffinity(0))
    outcomes, interrupted = run_all(work, longest_first, threads=workers)
    finished = {position: row for position, row in outcomes if row is not None}
    kept = [(job, finished[position]) for position, job in enumerate(jobs) if position in finished]
    return kept, interrupted or len(kept) < len(jobs)


def _native_simulate() -> Simulate:
    # Compiled, and so absent where only theory and checks are used: imported when it is needed.
    call: Simulate = importlib.import_module("lossylink._native").simulate
    return call


def native_version() -> str:
    """Return the compiled simulator's version, or say that there is none."""
    try:
        version: str = importlib.import_module("lossylink._native").version()
    except ModuleNotFoundError:
        return "none"
    return version


def _simulate(
    position: int, job: Job, call: Simulate, stop: threading.Event, overall: _Overall
) -> dict[str, Any] | None:
    """Run one job; `None` when it was stopped before its end."""
    if stop.is_set():
        return None

    def report(done: float, total: float) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        overall.update(position, job, done / total if total else 0.0)

    try:
        outcome = call(json.dumps(job.config), report)
    except KeyboardInterrupt:
        outcome = None
    if outcome is None or outcome["interrupted"]:
        stop.set()
        return None
    overall.update(position, job, 1.0)
    row: dict[str, Any] = outcome["row"]
    return row
