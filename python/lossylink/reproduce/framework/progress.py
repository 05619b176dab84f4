"""One progress bar over all jobs, with an estimate of the time that is left, on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from lossylink.reproduce.framework.model import Job
from lossylink.reproduce.framework.runner import Report

SPEED_WINDOW_SECONDS = 60.0
"""The rate of the last minute predicts the rest: jobs differ in speed."""


class OverallProgress:
    """A bar whose length is the sum of the jobs' weights; silent when it is not shown."""

    def __init__(self, jobs: Sequence[Job], *, shown: bool) -> None:
        self._console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            speed_estimate_period=SPEED_WINDOW_SECONDS,
            disable=not shown or not self._console.is_terminal,
        )
        self._plain = shown and not self._console.is_terminal
        self._task = self._progress.add_task("", total=sum(_work(job) for job in jobs))
        self._done = 0.0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    @contextmanager
    def job(self, job: Job) -> Iterator[Report]:
        """Show one job; the report callback moves the bar by the job's share."""
        label = f"{job.experiment}, {job.key}"
        self._progress.update(self._task, description=label)
        if self._plain:
            self._console.print(f"{label} ...", highlight=False)

        def report(done: float, total: float) -> None:
            share = min(1.0, done / total) if total > 0 else 0.0
            self._progress.update(self._task, completed=self._done + share * _work(job))

        yield report
        self._done += _work(job)
        self._progress.update(self._task, completed=self._done)

    def print_above(self, write: Callable[[], None]) -> None:
        """Take the bar away while a table is printed: stdout and stderr may be the same terminal."""
        self._progress.stop()
        write()
        self._progress.start()


def _work(job: Job) -> float:
    return job.weight * len(job.protections)
