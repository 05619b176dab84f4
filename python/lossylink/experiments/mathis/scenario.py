"""Where the study meets scenarios: a resolved scenario in, a `Run` out."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import polars
from pydantic import ValidationError

from lossylink.errors import UserError
from lossylink.experiments.mathis import traps
from lossylink.experiments.mathis.design import Design
from lossylink.experiments.mathis.runner import Progress, Simulate, native_version
from lossylink.experiments.mathis.study import Study, run
from lossylink.protections import Protection
from lossylink.results import Run
from lossylink.row_keys import in_order
from lossylink.scenario import Scenario
from lossylink.scenario.native import configuration


def run_scenario(
    scenario: Scenario, *, progress: Progress | None = None, simulate: Simulate | None = None
) -> Run:
    """Run the study that a scenario describes, once for each of its protections.

    Raises
    ------
    UserError
        Something asked for cannot be run; one line says the mend.
    """
    started = time.monotonic()
    rows: list[dict[str, Any]] = []
    interrupted = False
    for number, protection in enumerate(scenario.protections):
        if interrupted:
            break
        share = _share(progress, number, len(scenario.protections))
        study = _study(scenario, protection, progress=share, simulate=simulate)
        rows += study.rows
        interrupted = study.interrupted
    return as_run(scenario, rows, started=started, interrupted=interrupted)


def run_trap(
    scenario: Scenario, name: str, *, progress: Progress | None = None, simulate: Simulate | None = None
) -> traps.TrapRun:
    """Run a trap on the scenario's switch and hosts; its trial and set-ups are the trap's own.

    Raises
    ------
    UserError
        The trap does not exist, or the simulator refused a set-up.
    """
    base = base_of(scenario, scenario.protections[0])
    try:
        return traps.run(
            name,
            base,
            seed=scenario.seed,
            threads=_threads(scenario),
            progress=progress,
            simulate=simulate,
        )
    except ValueError as error:
        raise UserError(_one_line(error)) from None


def as_run(
    scenario: Scenario, rows: Sequence[Mapping[str, Any]], *, started: float, interrupted: bool
) -> Run:
    """Wrap rows as the result that every experiment gives.

    Parameters
    ----------
    scenario
        What was run.
    rows
        Rows of the study or of a trap.
    started
        `time.monotonic()` at the start, in seconds.
    interrupted
        Whether Ctrl-C cut it short.
    """
    ordered = [in_order("mathis", row) for row in rows]
    return Run(
        experiment="mathis",
        backend=scenario.values.run.backend,
        version=native_version(),
        seed=scenario.seed,
        wall_seconds=time.monotonic() - started,
        scenario=scenario.describe(),
        rows=polars.DataFrame(ordered, infer_schema_length=None),
        interrupted=interrupted,
    )


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


def base_of(scenario: Scenario, protection: Protection) -> dict[str, Any]:
    """Return the simulator's configuration without a trial."""
    base = configuration(scenario, protection)
    base["loss"] = {"reverse": base["loss"]["reverse"]}
    return base


def _study(
    scenario: Scenario, protection: Protection, *, progress: Progress | None, simulate: Simulate | None
) -> Study:
    forward = scenario.forward.native if "forward" in scenario.settings["loss"] else None
    try:
        study = run(
            base_of(scenario, protection),
            design_of(scenario),
            seed=scenario.seed,
            loss=forward,
            threads=_threads(scenario),
            progress=progress,
            simulate=simulate,
        )
    except UserError:
        raise
    except ValueError as error:
        raise UserError(_one_line(error)) from None
    rows = [row | {"protection": protection.label} for row in study.rows]
    return Study(rows=rows, interrupted=study.interrupted)


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


def _share(progress: Progress | None, number: int, count: int) -> Progress | None:
    """Turn the progress of one protection into that of all, each counting the same."""
    if progress is None:
        return None

    def tell(done: float, total: float) -> None:
        progress(number * total + done, count * total)

    return tell


def _threads(scenario: Scenario) -> int:
    return scenario.values.run.threads or len(os.sched_getaffinity(0))


def _one_line(error: ValueError) -> str:
    """Return an error's message without the frame that pydantic puts around it."""
    if isinstance(error, ValidationError):
        first: str = error.errors()[0]["msg"]
        return first.removeprefix("Value error, ")
    return str(error)
