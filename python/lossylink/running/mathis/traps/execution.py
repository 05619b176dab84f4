"""Runs a trap: its naive set-ups and the corrected one, the same trial, the same seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lossylink.declared.backend import Backend
from lossylink.declared.job import Progress
from lossylink.results.checks import Check, from_json
from lossylink.running.execution import run_jobs
from lossylink.running.mathis.design import Design, Trial, named_seed
from lossylink.running.mathis.job import job_of
from lossylink.running.mathis.planned import IP_TCP_HEADER_BYTES, Planned, overridden, planned
from lossylink.running.mathis.traps.catalogue import Setup, Trap, rtt_ps, trap_named


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
    backend: Backend,
    seed: int = 1,
    threads: int = 1,
    progress: Progress | None = None,
) -> TrapRun:
    """Run every set-up of a trap.

    Parameters
    ----------
    name
        One of `TRAPS`.
    base
        The simulator's configuration without the trial, in base units; see `planned_trials`.
    backend
        What measures the set-ups.
    seed
        Decides every random draw.
    threads, progress
        As in `lossylink.running.execution.run_jobs`.

    Raises
    ------
    ValueError
        The trap does not exist, or the backend refused a configuration.
    """
    trap = trap_named(name)
    jobs = [job_of(_planned(trap, setup, base, seed), label=setup.name) for setup in trap.setups]
    parts, interrupted = run_jobs(jobs, backend, threads=threads, progress=progress)
    return TrapRun(trap=trap, rows=[dict(part.row) for part in parts], interrupted=interrupted)


def _planned(trap: Trap, setup: Setup, base: Mapping[str, Any], seed: int) -> Planned:
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
    right = planned(
        overridden(base, sound),
        trial,
        loss_events=Design().loss_events,
        labels={"trap": trap.name, "setup": setup.name},
    )
    return replace(right, config=overridden(right.config, setup.overrides))
