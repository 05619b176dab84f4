"""Carries jobs out on a backend: in parallel where that helps; a stop keeps what had finished."""

from __future__ import annotations

import math
import os
import re
import threading
import time
from collections.abc import Sequence

from msgspec.structs import replace

from lossylink.declared.backend import Backend
from lossylink.declared.job import Job, Part, Progress
from lossylink.errors import LossylinkError, RunError, UserError
from lossylink.running.pool import run_all, run_in_turn
from lossylink.scenario.scenario import Scenario


def thread_count(scenario: Scenario) -> int:
    """Return the threads to use: as set, or every core that this process may run on."""
    return scenario.values.run.threads or len(os.sched_getaffinity(0))


def run_jobs(
    jobs: Sequence[Job], backend: Backend, *, threads: int, progress: Progress | None = None
) -> tuple[list[Part], bool]:
    """Carry the jobs of one experiment out.

    Parameters
    ----------
    jobs
        What to measure; the parts keep this order, whatever the number of threads.
    threads
        Threads to use, for jobs at the same time or inside each.
    progress
        Told the work done and the whole work of all jobs.

    Returns
    -------
    tuple
        The parts that hold a row, and whether Ctrl-C cut the run short.

    Raises
    ------
    UserError
        The backend refused a job; nothing more is started then.
    RunError
        A job failed.
    """
    together, each = _shares(jobs, threads)
    overall = _Overall(jobs, progress)

    def work(place: int, stop: threading.Event) -> tuple[int, Part]:
        if stop.is_set():
            return place, Part(interrupted=True)

        def report(done: float, total: float) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            overall.update(place, done, total)

        job = replace(jobs[place], threads=each)
        part = _measure(job, backend, report)
        if part.interrupted:
            stop.set()
        else:
            overall.finish(place)
        return place, part

    longest_first = sorted(range(len(jobs)), key=lambda place: -(jobs[place].weight or 0.0))
    if backend.one_at_a_time or (backend.listens and len(jobs) == 1):
        outcomes, interrupted = run_in_turn(work, longest_first)
    else:
        outcomes, interrupted = run_all(work, longest_first, threads=together)
    parts = [part for _, part in sorted(outcomes, key=lambda outcome: outcome[0])]
    interrupted = interrupted or len(parts) < len(jobs) or any(part.interrupted for part in parts)
    return [part for part in parts if part.row], interrupted


def _shares(jobs: Sequence[Job], threads: int) -> tuple[int, int]:
    """How many jobs run at the same time, on how many threads each: what ends first if all work is alike."""
    blocks = _blocks(jobs[0], enough=threads)

    def rounds(together: int) -> int:
        return math.ceil(len(jobs) / together) * math.ceil(blocks / (threads // together))

    together = min((1, min(threads, len(jobs))), key=rounds)
    return together, threads // together


def _blocks(job: Job, *, enough: int) -> int:
    """Return how many threads can work on a job; ``enough`` where it has no number of trials."""
    if job.experiment.spreads == "jobs":
        return 1
    flow = job.configuration.get("flow")
    return math.ceil(flow["trials"] / job.experiment.block_trials) if flow else enough


def _measure(job: Job, backend: Backend, report: Progress) -> Part:
    """Measure one job and make its row; names of files say which protection they belong to."""
    started = time.monotonic()
    try:
        part = backend.measure(job, report)
    except KeyboardInterrupt:
        return Part(interrupted=True)
    except LossylinkError:
        raise
    except ValueError as error:
        raise UserError(str(error)) from None
    except RuntimeError as error:
        raise RunError(f"{job.experiment.name} with {job.label}: {error}") from None
    if not part.row or (part.interrupted and job.is_whole):
        return Part(interrupted=part.interrupted)
    row = job.finish(part.row, time.monotonic() - started)
    if backend.leaves_out:
        row = job.experiment.in_order(dict.fromkeys(job.experiment.row_keys) | row)
    prefix = re.sub(r"[^a-z0-9.-]+", "-", job.label)
    return Part(
        row=row,
        tables=part.tables,
        files={f"{prefix}-{name}": text for name, text in part.files.items()},
        states=[{"protection": job.label, **state} for state in part.states],
        interrupted=part.interrupted,
    )


class _Overall:
    """Sums the progress of all jobs.

    A job whose weight is known counts by its weight; one that has no weight and has not begun counts as much
    as the largest that has.
    """

    def __init__(self, jobs: Sequence[Job], tell: Progress | None) -> None:
        self._jobs = jobs
        self._tell = tell
        self._lock = threading.Lock()
        self._parts = {place: (0.0, job.weight) for place, job in enumerate(jobs) if job.weight is not None}

    def update(self, place: int, done: float, total: float) -> None:
        """Take the news of one job and pass the sum on."""
        if self._tell is None:
            return
        weight = self._jobs[place].weight
        if weight is not None:
            done, total = (weight * done / total if total else 0.0), weight
        with self._lock:
            self._parts[place] = (done, total)
            totals = [part[1] for part in self._parts.values()]
            unknown = (len(self._jobs) - len(totals)) * max(totals)
            self._tell(sum(part[0] for part in self._parts.values()), sum(totals) + unknown)

    def finish(self, place: int) -> None:
        """Count a job of known weight as done, whatever it has told."""
        weight = self._jobs[place].weight
        if weight is not None:
            self.update(place, weight, weight)
