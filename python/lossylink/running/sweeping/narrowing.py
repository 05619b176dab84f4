"""A backend that measures a job until its figure is known well enough; see `until`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from lossylink.declared.backend import Backend
from lossylink.declared.experiment import Experiment
from lossylink.declared.job import Job, Part, Progress
from lossylink.running.backends import backend_named
from lossylink.running.complete_row import clusters
from lossylink.running.sweeping.until import Until, changed, own_amount
from lossylink.scenario.scenario import Scenario

if TYPE_CHECKING:
    from lossylink.statistics.estimates import Estimate


def narrowing(scenario: Scenario, until: Until) -> Backend:
    """Return the scenario's backend, which adds work to each job until the rule is met or at its maximum.

    The row is that of a plain run with as much work, and the columns of the rule beside it.
    """
    backend, growth = backend_named(scenario.values.run.backend), scenario.experiment.growth
    if growth is None:
        raise ValueError(f"{scenario.experiment.name} does not grow")
    amounts = until.looks(own_amount(scenario))

    def measure(job: Job, report: Progress) -> Part:
        look = _Look(until, scenario.experiment)
        if backend.grow is not None and growth.in_blocks:
            part = backend.grow(job, report, amounts, look.is_enough)
        else:
            part = _anew(backend, job, report, [(growth.key, amount) for amount in amounts], look)
        if part.interrupted or not part.row:
            return replace(part, row={})
        columns = until.columns(look.estimate, look=look.count, is_met=look.is_met)
        return replace(part, row={**part.row, **columns})

    return replace(backend, measure=measure)


class _Look:
    """Looks at what a job has given so far."""

    def __init__(self, until: Until, experiment: Experiment) -> None:
        self._until = until
        self._experiment = experiment
        self.count = 0
        self.estimate: Estimate | None = None
        self.is_met = False

    def is_enough(self, part: Part) -> bool:
        """Look once more; returns whether the figure is known well enough."""
        self.count += 1
        self.estimate = self._until.estimate(self._experiment, part)
        self.is_met = self._until.is_met(self.estimate)
        return self.is_met


def _anew(backend: Backend, job: Job, report: Progress, amounts: list[tuple[str, int]], look: _Look) -> Part:
    """Run a job again and again, longer each time, until a look is content."""
    part = Part()
    for key, amount in amounts:
        longer = replace(job, configuration=changed(job.configuration, key, amount))
        part = backend.measure(longer, report)
        if part.interrupted or not part.row:
            break
        if "effective_lost_packets" in part.row:
            row = dict(part.row)
            part = replace(part, row=row | clusters(row, longer.configuration))
        if look.is_enough(part):
            break
    return part
