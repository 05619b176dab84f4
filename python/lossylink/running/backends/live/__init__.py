"""The live lab: each job is measured between two hosts of the kernel, over our data plane as their link.

A module beside this one that has ``MEASURES`` measures one kind of traffic. They name the experiments it is
for, each with a function from the job's configuration and who to tell of progress to row, columns and files.
"""

from __future__ import annotations

from lossylink.declared.backend import Backend
from lossylink.declared.job import Job, Part, Progress
from lossylink.errors import UserError
from lossylink.running.backends._measures import Measure, measures_in, part_of


def _measure(job: Job, report: Progress) -> Part:
    if job.configuration.get("transport", {}).get("protocol") == "rdma":
        raise UserError("transport.protocol = rdma is simulated only: the lab's hosts have no RDMA interface")
    return part_of(job, measure_of(job.experiment.name)(job.configuration, report))


def measure_of(experiment: str) -> Measure:
    """Return the function that measures an experiment.

    Raises
    ------
    UserError
        None does.

    Examples
    --------
    >>> measure_of("rdma-fct")
    Traceback (most recent call last):
    lossylink.errors.UserError: rdma-fct is not measured live; take one of fec, mathis, stress, ...
    """
    measures = measures_in(__name__)
    if experiment not in measures:
        raise UserError(f"{experiment} is not measured live; take one of {', '.join(sorted(measures))}")
    return measures[experiment]


BACKEND = Backend(
    name="live",
    measure=_measure,
    one_at_a_time=True,
    leaves_out=True,
    no_capture="runs live; capture a hop of its lab with lossylink lab pcap",
    no_state="runs live; ask a lab of your own with lossylink lab status",
)
