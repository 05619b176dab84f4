"""The whole study: from a design and a seed to rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lossylink.checks import Thresholds
from lossylink.experiments.mathis.design import Design
from lossylink.experiments.mathis.job import jobs_of
from lossylink.experiments.mathis.rows import row_of
from lossylink.experiments.mathis.runner import Progress, Simulate, run_jobs


@dataclass(frozen=True)
class Study:
    """Finished trials in the order of the design."""

    rows: list[dict[str, Any]]
    interrupted: bool = False
    """True when Ctrl-C cut the study short; the rows are the trials that had finished."""


def run(
    base: Mapping[str, Any],
    design: Design | None = None,
    *,
    seed: int = 1,
    loss: Mapping[str, Any] | None = None,
    strict: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    thresholds: Thresholds | None = None,
    simulate: Simulate | None = None,
) -> Study:
    """Run the trials of a design and judge each of them.

    Parameters
    ----------
    base
        The simulator's configuration without the trial, in base units; see `jobs_of`.
    design
        Which trials; the published 60 when not given.
    seed
        Draws the loss ratios and seeds every trial: the same rows whatever the threads.
    loss
        Forward loss process in place of independent losses.
    strict
        Refuse an MSS that the MTU would cap.
    threads, progress, simulate
        See `run_jobs`.
    thresholds
        Where the checks draw their lines.

    Raises
    ------
    ValueError
        Something asked for cannot be run; one line says the mend.
    """
    jobs = jobs_of(base, design or Design(), seed=seed, loss=loss, strict=strict)
    finished, interrupted = run_jobs(jobs, threads=threads, progress=progress, simulate=simulate)
    rows = [row_of(job, native, thresholds=thresholds) for job, native in finished]
    return Study(rows=rows, interrupted=interrupted)
