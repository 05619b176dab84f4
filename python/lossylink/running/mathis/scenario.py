"""Where the study meets scenarios: the trials that a resolved scenario asks for, and its traps."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from lossylink.declared.job import Job, Progress
from lossylink.declared.protections import Protection
from lossylink.declared.setup import Setup
from lossylink.errors import UserError
from lossylink.running.backends import backend_named
from lossylink.running.execution import thread_count
from lossylink.running.mathis import traps
from lossylink.running.mathis.design import Design
from lossylink.running.mathis.job import job_of
from lossylink.running.mathis.planned import planned_trials
from lossylink.scenario.scenario import Scenario


def jobs(scenario: Scenario) -> list[Job]:
    """Return every trial of the study that a scenario describes, once for each of its protections.

    Raises
    ------
    UserError
        Something asked for cannot be run; one line says the mend.
    """
    return [job for protection, setup in scenario.runs for job in _jobs_under(scenario, protection, setup)]


def _jobs_under(scenario: Scenario, protection: Protection, setup: Setup) -> list[Job]:
    try:
        planned = planned_trials(
            base_of(setup),
            design_of(scenario),
            seed=scenario.seed,
            loss=scenario.forward.native if "forward" in scenario.settings["loss"] else None,
            labels={"protection": protection.label},
        )
    except UserError:
        raise
    except ValueError as error:
        raise UserError(_one_line(error)) from None
    return [job_of(one, label=protection.label) for one in planned]


def run_trap(scenario: Scenario, name: str, *, progress: Progress | None = None) -> traps.TrapRun:
    """Run a trap on the scenario's switch and hosts; its trial and set-ups are the trap's own.

    Raises
    ------
    UserError
        The trap does not exist, or the backend refused a set-up.
    """
    try:
        return traps.run(
            name,
            base_of(scenario.setups[0]),
            backend=backend_named(scenario.values.run.backend),
            seed=scenario.seed,
            threads=thread_count(scenario),
            progress=progress,
        )
    except UserError:
        raise
    except ValueError as error:
        raise UserError(_one_line(error)) from None


def design_of(scenario: Scenario) -> Design:
    """Read the grid; a single MSS, RTT or loss ratio that was set takes its axis' place.

    Raises
    ------
    UserError
        There is no loss to study, or no ratio to put into the model.
    """
    values, settings = scenario.values, scenario.settings
    grid, path, transport = values.grid, values.path, values.transport
    if grid is None or transport is None:
        raise UserError("the Mathis study needs a grid and a transport; start from scenarios/mathis.toml")
    ratios = tuple(grid.loss) if grid.loss else None
    if "forward" in settings["loss"]:
        ratios = (_mean_loss(scenario),)
    try:
        return Design(
            mss_bytes=(transport.mss,) if "mss" in settings["transport"] else tuple(grid.mss),
            rtt_ps=(path.rtt,) if path is not None and path.rtt is not None else tuple(grid.rtt),
            loss_ratios=ratios,
            loss_min=grid.loss_min,
            loss_max=grid.loss_max,
            loss_count=grid.loss_count,
            loss_events=grid.loss_events,
        )
    except ValidationError as error:
        raise UserError(_one_line(error)) from None


def base_of(setup: Setup) -> dict[str, Any]:
    """Return the simulator's configuration without a trial."""
    return setup.changed({"loss": {"reverse": setup.configuration["loss"]["reverse"]}}).configuration


def _mean_loss(scenario: Scenario) -> float:
    mean = scenario.forward.mean
    if mean is None:
        raise UserError(
            f"loss.forward = {scenario.forward.spelling} has no mean ratio to put into the model; "
            "use a ratio, gilbert-elliott or a trace"
        )
    if mean == 0:
        raise UserError("loss.forward = 0 gives the law an infinite bandwidth; set a ratio such as 1e-3")
    return mean


def _one_line(error: ValueError) -> str:
    """Return an error's message without the frame that pydantic puts around it."""
    if isinstance(error, ValidationError):
        first: str = error.errors()[0]["msg"]
        return first.removeprefix("Value error, ")
    return str(error)
