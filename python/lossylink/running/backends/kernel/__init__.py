"""Real Linux hosts in virtual time: each job is a guest, a kernel of its own around the simulated path.

A module beside this one that has ``MEASURES`` measures one kind of traffic, as in the live lab's package.
"""

from __future__ import annotations

from lossylink.declared.backend import Backend
from lossylink.declared.job import Job, Part, Progress
from lossylink.errors import UserError
from lossylink.running.backends._measures import Measure, measures_in, part_of


def _measure(job: Job, report: Progress) -> Part:
    if (job.configuration.get("transport") or {}).get("protocol") == "rdma":
        raise UserError("transport.protocol = rdma is simulated only: --set transport.protocol=tcp")
    return part_of(job, measure_of(job.experiment.name)(job.configuration, report))


def measure_of(experiment: str) -> Measure:
    """Return the function that measures an experiment.

    Raises
    ------
    UserError
        None does.

    Examples
    --------
    >>> measure_of("fabric")
    Traceback (most recent call last):
    lossylink.errors.UserError: fabric is not measured in a kernel: take fec, ... or timeline
    """
    measures = measures_in(__name__)
    if experiment not in measures:
        *others, last = sorted(measures)
        raise UserError(f"{experiment} is not measured in a kernel: take {', '.join(others)} or {last}")
    return measures[experiment]


BACKEND = Backend(
    name="kernel",
    measure=_measure,
    leaves_out=True,
    no_capture="runs in a kernel; run tcpdump in a guest",
    no_state="runs in a kernel; take the simulator",
)
