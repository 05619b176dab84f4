"""Has the simulator, or the live data plane, refuse a scenario before anything is begun."""

from __future__ import annotations

import json

from lossylink import _native
from lossylink.declared.protections import Protection
from lossylink.errors import UserError
from lossylink.scenario.native import configuration
from lossylink.scenario.scenario import Scenario


def check_buildable(scenario: Scenario) -> None:
    """Refuse what the simulator, or live the data plane, would refuse of any protection.

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
    problems = [_problem(scenario, protection) for protection in scenario.protections]
    for protection, problem in zip(scenario.protections, problems, strict=True):
        if problem is not None:
            is_everyones = len(set(problems)) == 1
            raise UserError(problem if is_everyones else f"protection '{protection.label}': {problem}")


def _problem(scenario: Scenario, protection: Protection) -> str | None:
    """Return why one simulation cannot be built; nothing when it can."""
    try:
        _native.Simulation(json.dumps(configuration(scenario, protection)))
    except ValueError as error:
        return str(error)
    return None
