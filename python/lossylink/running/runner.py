"""Runs a scenario: its experiment's jobs on its backend, and the one `Run` that holds what they gave."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lossylink import _native, running
from lossylink._package.discovery import module_in
from lossylink.declared.backend import Backend
from lossylink.declared.job import Job, Part, Progress
from lossylink.declared.protections import Protection
from lossylink.declared.setup import Setup
from lossylink.declared.table import Table
from lossylink.errors import UserError
from lossylink.results.result import alike
from lossylink.running.backends import backend_named
from lossylink.running.complete_row import complete_row
from lossylink.running.execution import run_jobs, thread_count
from lossylink.running.run import Run
from lossylink.scenario.from_python import spelled
from lossylink.scenario.resolving import resolve
from lossylink.scenario.scenario import Scenario
from lossylink.units import parse_time

if TYPE_CHECKING:
    from lossylink.scenario.loss_function import LossFunction


def run(
    what: str | Path,
    *,
    protection: str | Sequence[str] | None = None,
    loss: str | float | LossFunction | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    threads: int | None = None,
    backend: str | None = None,
    rare: bool = False,
    strict: bool = False,
    pcap: tuple[str, Path] | None = None,
    state_at: Sequence[str] = (),
    progress: Progress | None = None,
) -> Run:
    """Run one experiment, or a scenario file, and return its rows and tables.

    Parameters
    ----------
    what
        An experiment (``"stress"``) or the path of a scenario file.
    protection
        A protection, or several, one row each; the scenario's own when not given.
    loss
        What the link corrupts toward h8: a spelling of ``loss.forward``, a ratio, or a function. A function
        takes a count of frames and a ``numpy.random.Generator``, and gives an array of that many bools, True
        where a frame is lost. It is called once, for the packets of a stress test, else for 1,000,000 frames;
        frames after these are delivered. It costs a byte a frame while it is called. Its losses, 100,000 at
        most, become a list ``at:...`` in the scenario. Short flows run in blocks of 100, and each block
        begins with frame 0 of the list.
    settings
        Dotted keys and their values, as with ``--set``, or sections within each other. A number for a rate is
        in bits per second, one for a time in seconds, one for a length in metres.
    seed
        Decides every random draw: the same scenario and seed give the same rows, whatever the threads.
    threads, backend
        Shorter ways to set ``run.threads`` and ``run.backend``.
    rare
        Find losses that are too rare to count: the rows hold ``residual_loss_rate`` with its interval.
    strict
        Refuse what a run would quietly change, such as an MSS that does not fit the MTU.
    pcap
        A hop (``"sw2-sw6"``) and the file to record it to, in pcapng.
    state_at
        Instants of simulated time (``"5ms"``) at which to take the state of the link's ends: `Run.states`.
    progress
        Called about ten times a second with the work done and the whole work, from any thread.

    Raises
    ------
    UserError
        What was asked for cannot be run; the message says the mend.
    RunError
        The run failed.

    Examples
    --------
    >>> import lossylink
    >>> import numpy as np
    >>> result = lossylink.run("stress", protection="lg-nb", settings={"traffic.packets": 20_000}, seed=1)
    >>> result.rows["protection"].to_list()
    ['lg-nb']
    >>> def every_thousandth(frames, rng):
    ...     return np.arange(frames) % 1000 == 999
    >>> settings = {"link": {"rate": 25e9}, "traffic": {"packets": 20_000}}
    >>> lossylink.run("stress", protection="none", loss=every_thousandth, settings=settings).rows[
    ...     "effective_lost_packets"
    ... ].to_list()
    [20]
    """
    chosen = spelled(settings)
    chosen |= {"run.threads": threads} if threads is not None else {}
    chosen |= {"run.backend": backend} if backend is not None else {}
    chosen |= {"run.rare": True} if rare else {}
    schemes = [protection] if isinstance(protection, str) else protection
    if callable(loss):
        plain = resolve(what, settings=chosen, protection=schemes, seed=seed)
        loss = _listed(loss, plain)
    chosen |= {"loss.forward": loss} if loss is not None else {}
    scenario = resolve(what, settings=chosen, protection=schemes, seed=seed, strict=strict)
    return run_scenario(scenario, pcap=pcap, state_at=state_at, progress=progress)


def _listed(loss: LossFunction, scenario: Scenario) -> str:
    """Call a loss function for the frames of a scenario."""
    from lossylink.scenario.loss_function import FRAMES, listed  # numpy, which other runs do without

    traffic = scenario.values.traffic
    frames = FRAMES if traffic is None or traffic.packets is None else traffic.packets
    return listed(loss, frames=frames, seed=scenario.seed)


def run_scenario(
    scenario: Scenario,
    *,
    pcap: tuple[str, Path] | None = None,
    state_at: Sequence[str] = (),
    progress: Progress | None = None,
    backend: Backend | None = None,
) -> Run:
    """Run a scenario that is already resolved; see `run`.

    ``backend`` measures in place of the scenario's own.
    """
    backend = backend or backend_named(scenario.values.run.backend)
    _refuse(scenario, backend, pcap)
    looks = _Looks(pcap=pcap, instants_ps=_instants(scenario, backend, state_at))
    started = time.monotonic()
    jobs = _jobs(scenario, looks)
    parts, interrupted = run_jobs(jobs, backend, threads=thread_count(scenario), progress=progress)
    return gather(scenario, parts, wall_seconds=time.monotonic() - started, interrupted=interrupted)


def _refuse(scenario: Scenario, backend: Backend, pcap: tuple[str, Path] | None) -> None:
    """Refuse what cannot be run or recorded, before anything runs."""
    experiment = scenario.experiment
    if backend.name in experiment.refused:
        raise UserError(f"{experiment.name}: {experiment.refused[backend.name]}")
    if pcap is None:
        return
    why = backend.no_capture or (
        "is many of them; take throughput, which is one" if experiment.is_study else ""
    )
    if why:
        raise UserError(f"--pcap records a single simulation, and {experiment.name} {why}")
    if len(scenario.protections) != 1:
        raise UserError("--pcap records one run; choose one protection with --protection")


class _Looks(Struct, frozen=True):
    """What a simulation shows of its inside."""

    pcap: tuple[str, Path] | None
    instants_ps: list[int]

    def into(self, setup: Setup) -> Setup:
        """Return a setup that shows it too."""
        changes: dict[str, Any] = {}
        if self.pcap is not None:
            changes["pcap"] = {"hop": self.pcap[0], "path": str(self.pcap[1])}
        if self.instants_ps:
            changes["state_at_ps"] = self.instants_ps
        return setup.changed(changes) if changes else setup


def _instants(scenario: Scenario, backend: Backend, state_at: Sequence[str]) -> list[int]:
    """Read the instants at which the state is taken, or refuse them."""
    if not state_at:
        return []
    experiment = scenario.experiment
    if backend.no_state:
        raise UserError(f"--state-at looks into a simulation, and {experiment.name} {backend.no_state}")
    if experiment.is_study:
        raise UserError(
            f"--state-at looks into a single simulation, and {experiment.name} is many of them; "
            "take throughput, which is one"
        )
    try:
        return [parse_time(instant) for instant in state_at]
    except ValueError as error:
        raise UserError(f"--state-at: {error}") from None


def jobs_of(scenario: Scenario) -> Sequence[Job]:
    """Return the jobs of a scenario, without captures or states."""
    return _jobs(scenario, _Looks(pcap=None, instants_ps=[]))


def _jobs(scenario: Scenario, looks: _Looks) -> Sequence[Job]:
    """Expand a scenario as its experiment does, or into one job for each protection."""
    if scenario.experiment.is_study:
        jobs: Sequence[Job] = module_in(running, scenario.experiment.name).jobs(scenario)
        return jobs
    return [_job(scenario, protection, looks.into(setup)) for protection, setup in scenario.runs]


def _job(scenario: Scenario, protection: Protection, setup: Setup) -> Job:

    def finish(measured: Mapping[str, Any], wall_seconds: float) -> dict[str, Any]:
        return complete_row(
            scenario, protection, measured, configuration=setup.configuration, wall_seconds=wall_seconds
        )

    return Job(experiment=scenario.experiment, label=protection.label, setup=setup, finish=finish)


def gather(scenario: Scenario, parts: Sequence[Part], *, wall_seconds: float, interrupted: bool) -> Run:
    """Build the result of a scenario from the parts of its jobs."""
    return Run(
        experiment=scenario.experiment.name,
        backend=scenario.values.run.backend,
        version=_native.version(),
        seed=scenario.seed,
        wall_seconds=wall_seconds,
        scenario=scenario.describe(),
        records=alike([part.row for part in parts]),
        parts=_stacked(parts),
        files={name: text for part in parts for name, text in part.files.items()},
        states=[dict(state) for part in parts for state in part.states],
        interrupted=interrupted,
    )


def _stacked(parts: Sequence[Part]) -> dict[str, Table]:
    names = dict.fromkeys(name for part in parts for name in part.tables)
    return {name: Table.stacked(part.tables[name] for part in parts if name in part.tables) for name in names}
