"""The study's trials as jobs for a backend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lossylink.declared.experiments import experiment_named
from lossylink.declared.job import Job
from lossylink.declared.setup import Setup
from lossylink.running.mathis.planned import Planned
from lossylink.running.mathis.rows import row_of


def job_of(planned: Planned, *, label: str) -> Job:
    """Return the job of one trial; it weighs as many segments as it is expected to send.

    Parameters
    ----------
    label
        The protection that it runs under, as the user spelt it.
    """
    experiment = experiment_named("mathis")

    def finish(measured: Mapping[str, Any], _wall_seconds: float) -> dict[str, Any]:
        return experiment.in_order(row_of(planned, measured))

    return Job(
        experiment=experiment,
        label=label,
        setup=Setup(planned.config),
        finish=finish,
        weight=planned.plan.segments,
        is_whole=True,
    )
