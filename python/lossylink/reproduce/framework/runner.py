"""How `reproduce` runs a job: one seam, so that tests can put a made-up simulator behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lossylink.reproduce.framework.model import Job
from lossylink.running.run import Run
from lossylink.running.runner import run

Report = Callable[[float, float], None]
"""Told (done, total) several times a second."""


class Runner(Protocol):
    """Runs one job to its end, or to the user's interruption."""

    def __call__(self, job: Job, *, seed: int, threads: int, report: Report) -> Run:
        """Run the job; an interrupted run comes back with ``interrupted`` set."""
        ...


def simulate(job: Job, *, seed: int, threads: int, report: Report) -> Run:
    """Run a job through ``lossylink.run``, that is through the native simulator."""
    return run(
        job.experiment,
        protection=job.protections,
        settings=job.settings,
        seed=seed,
        threads=threads,
        progress=report,
    )
