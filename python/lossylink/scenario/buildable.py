"""Has the simulator, or the live data plane, refuse a scenario before anything is begun."""

from __future__ import annotations

from lossylink.declared.setup import Setup
from lossylink.errors import UserError
from lossylink.scenario.scenario import Scenario


def check_buildable(scenario: Scenario) -> None:
    """Refuse what the simulator, or live the data plane, would refuse of any protection.

    What the simulator has read and checked is run later.

    Raises
    ------
    UserError
        One line of theirs; it names the protection where others are not refused for the same reason.
    """
    if scenario.values.run.backend == "live":
        for protection in scenario.protections:
            protection.check(live=True)
        return
    if scenario.values.grid is not None:
        return  # many simulations, none of which is the scenario's own
    problems = [_problem(setup) for setup in scenario.setups]
    for protection, problem in zip(scenario.protections, problems, strict=True):
        if problem is not None:
            is_everyones = len(set(problems)) == 1
            raise UserError(problem if is_everyones else f"protection '{protection.label}': {problem}")


def _problem(setup: Setup) -> str | None:
    """Return why a simulation cannot be built; nothing when it can."""
    try:
        _ = setup.simulation
    except ValueError as error:
        return str(error)
    return None
