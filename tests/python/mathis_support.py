"""The Mathis study on a stand-in for the compiled simulator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from lossylink.declared.job import Progress
from lossylink.running.backends import backend_named
from lossylink.running.execution import run_jobs
from lossylink.running.mathis import Design, traps
from lossylink.running.mathis.job import job_of
from lossylink.running.mathis.planned import planned_trials

from .fake_simulator import FakeSimulator, simulations_by


@contextmanager
def simulated_by(simulator: FakeSimulator | None) -> Iterator[None]:
    """Put a stand-in where the compiled simulator is."""
    with patch("lossylink._native.Simulation", simulations_by(simulator or FakeSimulator())):
        yield


@dataclass(frozen=True)
class Study:
    """The rows of the trials that finished."""

    rows: list[dict[str, Any]]
    interrupted: bool


def study(
    base: Mapping[str, Any],
    design: Design | None = None,
    *,
    simulator: FakeSimulator | None = None,
    seed: int = 1,
    threads: int = 1,
    loss: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Study:
    """Run the trials of a design."""
    planned = planned_trials(base, design or Design(), seed=seed, loss=loss)
    jobs = [job_of(one, label="none") for one in planned]
    with simulated_by(simulator):
        parts, interrupted = run_jobs(jobs, backend_named("sim"), threads=threads, progress=progress)
    return Study([dict(part.row) for part in parts], interrupted)


def trap(name: str, base: Mapping[str, Any], *, simulator: FakeSimulator | None = None) -> traps.TrapRun:
    """Run a trap."""
    with simulated_by(simulator):
        return traps.run(name, base, backend=backend_named("sim"))
