"""Runs a trap: its naive set-ups and the corrected one, the same trial, the same seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lossylink.checks import Check, Thresholds, from_json
from lossylink.experiments.mathis.design import Design, Trial, named_seed
from lossylink.experiments.mathis.job import IP_TCP_HEADER_BYTES, Job, job_of, overridden
from lossylink.experiments.mathis.rows import row_of
from lossylink.experiments.mathis.runner import Progress, Simulate, run_jobs
from lossylink.experiments.mathis.traps.catalogue import Setup, Trap, rtt_ps, trap_named


@dataclass(frozen=True)
class TrapRun:
    """What the set-ups of a trap measured, one row each with its name under `setup`."""

    trap: Trap
    rows: list[dict[str, Any]]
    interrupted: bool = False

    def row(self, setup: str) -> dict[str, Any]:
        """Return the row of one set-up."""
        return next(row for row in self.rows if row["setup"] == setup)

    def catching_check(self, setup: str) -> Check:
        """Return the outcome of the check that this trap is about."""
        outcome = from_json(self.row(setup)["checks"])
        return next(check for check in outcome if check.name == self.trap.caught_by)


def run(
    name: str,
    base: Mapping[str, Any],
    *,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress | None = None,
    thresholds: Thresholds | None = None,
    simulate: Simulate | None = None,
) -> TrapRun:
    """Run every set-up of a trap.

    Parameters
    ----------
    name
        One of `TRAPS`.
    base
        The simulator's configuration without the trial, in base units; see `jobs_of`.
    seed, threads, progress, thresholds, simulate
        As in `lossylink.experiments.mathis.run`.

    Raises
    ------
    ValueError
        The trap does not exist, or the simulator refused a configuration.
    """
    trap = trap_named(name)
    jobs = [_job(trap, setup, base, seed) for setup in trap.setups]
    finished, interrupted = run_jobs(jobs, threads=threads, progress=progress, simulate=simulate)
    rows = [row_of(job, native, thresholds=thresholds) for job, native in finished]
    return TrapRun(trap=trap, rows=rows, interrupted=interrupted)


def _job(trap: Trap, setup: Setup, base: Mapping[str, Any], seed: int) -> Job:
    """Plan the trial as it should be, then make the mistake."""
    trial = Trial(
        index=trap.number,
        mss_bytes=trap.mss_bytes,
        rtt_ps=rtt_ps(trap),
        loss_ratio=trap.loss_ratio,
        seed=named_seed(seed, f"mathis/trap/{trap.name}"),
    )
    sound = {
        "link.mtu_bytes": max(base["link"]["mtu_bytes"], trap.mss_bytes + IP_TCP_HEADER_BYTES),
        "transport.congestion_control": "reno",
        "transport.timestamps": False,
        "transport.segmentation_offload": False,
        "run": {},
    }
    if trap.duration_ps is not None:
        sound["run"] = {"duration_ps": trap.duration_ps}
    job = job_of(
        overridden(base, sound),
        trial,
        loss_events=Design().loss_events,
        labels={"trap": trap.name, "setup": setup.name},
    )
    return replace(job, config=overridden(job.config, setup.overrides))
