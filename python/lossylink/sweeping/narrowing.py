"""A backend that measures a job until its figure is known well enough; see `lossylink.sweeping.until`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lossylink.backends import Backend, backend_named
from lossylink.job import Job, Part, Progress
from lossylink.sweeping.until import Until, changed, own_amount

if TYPE_CHECKING:
    from lossylink.scenario import Scenario


def narrowing(scenario: Scenario, until: Until) -> Backend:
    """Return the scenario's backend, which adds work to each job until the rule is met or at its maximum.

    The row is that of a plain run with as much work, and the columns of the rule beside it.
    """
    backend, growth = backend_named(scenario.values.run.backend), scenario.experiment.growth
    if growth is None:
        raise ValueError(f"{scenario.experiment.name} does not grow")
    looks = until.looks(own_amount(scenario))

    def measure(job: Job, report: Progress) -> Part:
        for look, amount in enumerate(looks, 1):
            longer = replace(job, configuration=changed(job.configuration, growth.key, amount))
            part = backend.measure(longer, report)
            if part.interrupted or not part.row:
                return replace(part, row={})
            estimate = until.estimate(growth, part, look)
            is_met = until.is_met(estimate)
            if is_met or amount == looks[-1]:
                return replace(part, row={**part.row, **until.columns(estimate, look=look, is_met=is_met)})
        raise AssertionError("a rule has at least one look")

    return replace(backend, measure=measure)
