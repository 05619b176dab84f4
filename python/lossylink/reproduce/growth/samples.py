"""A sample of a place that grows: what it has, what the next look at it costs, and who read it last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lossylink.errors import LossylinkError
from lossylink.reproduce.framework.model import Job
from lossylink.reproduce.framework.runner import Report
from lossylink.reproduce.growth.amounts import DURATION
from lossylink.reproduce.growth.work import Carried, Work
from lossylink.running.run import Run

MOST_TRIALS: Final = 2**26
"""No sample grows beyond: its values are in memory while a claim is judged, about 1 GB of so many trials."""

LEAST_SECONDS: Final = 1e-6
"""No work is free, whatever a clock says."""

Clock = Callable[[], float]
"""Seconds; only their differences count."""


class Sample:
    """One protection of a job with as much work as has been done.

    Parameters
    ----------
    job
        The job, with any number of protections.
    seconds
        What the published amount took, about.
    """

    def __init__(self, job: Job, protection: str, work: Work, *, seconds: float) -> None:
        self.job = job
        self.protection = protection
        self.published = self.amount = work.published
        self.run: Run | None = None
        """The run of the amount; nothing while it is the published one."""
        self.seconds = seconds
        """What all of its work took."""
        self.failure = ""
        """Why it does not grow any more."""
        self._work = work
        self._unit_seconds = max(LEAST_SECONDS, seconds) / self.amount

    def resume(self, report: Report) -> None:
        """Take up what earlier calls carried out."""
        carried = self._work.kept(report)
        if carried is not None:
            self._unit_seconds = max(LEAST_SECONDS, carried.seconds) / carried.amount
            self._take(carried)

    def can_reach(self, amount: int) -> bool:
        """Whether it may have so much work."""
        fits = self.job.grows == DURATION or amount <= MOST_TRIALS
        return fits and not self.failure

    def seconds_to(self, amount: float) -> float:
        """What it costs to have so much work, by what the last look cost."""
        return self._unit_seconds * self._work.missing(amount)

    def grow(self, amount: int, report: Report, clock: Clock) -> None:
        """Add work until it has so much; a failure is noted, and ends the growth."""
        missing, started = self._work.missing(amount), clock()
        try:
            carried = self._work.carry_out(amount, report)
        except LossylinkError as error:
            self.failure = str(error)
            return
        self._unit_seconds = max(LEAST_SECONDS, clock() - started) / missing
        self._take(carried)

    def _take(self, carried: Carried) -> None:
        self.run, self.amount, self.seconds = carried.run, carried.amount, carried.seconds
