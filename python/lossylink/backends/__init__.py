"""Experiments that are more than one simulation each: the Mathis study, and everything on the live lab."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Protocol, cast

from lossylink.errors import RunError

if TYPE_CHECKING:
    from lossylink.results import Run
    from lossylink.runner import Progress
    from lossylink.scenario import Scenario

#: Modules that carry an experiment out themselves, each with a function ``run_scenario``.
_LIVE = "lossylink.backends.live.experiments"
_COMPOSED = {"mathis": "lossylink.experiments.mathis"}


class RunScenario(Protocol):
    """What such a module offers."""

    def __call__(self, scenario: Scenario, *, progress: Progress | None) -> Run:
        """Carry the scenario out."""


def find(scenario: Scenario) -> RunScenario | None:
    """Return who carries the scenario out, or nothing when one simulation for each protection does."""
    live = scenario.values.run.backend == "live"
    module = _LIVE if live else _COMPOSED.get(scenario.experiment.name)
    if module is None:
        return None
    try:
        available = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        available = False
    if not available:
        what = "the live backend" if live else scenario.experiment.name
        raise RunError(f"{what} is not part of this installation ({module} is missing)")
    return cast(RunScenario, importlib.import_module(module).run_scenario)
