"""The live lab: each job is measured between two hosts of the kernel, over our data plane as their link.

A module beside this one that has ``MEASURES`` measures one kind of traffic. They name the experiments it is
for, each with a function from the job's configuration and who to tell of progress to row, columns and files.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lossylink.backends._declaration import Backend
from lossylink.discovery import modules_in
from lossylink.errors import UserError

if TYPE_CHECKING:
    from lossylink.job import Job, Part, Progress

Measure = Callable[[dict[str, Any], Callable[[float, float], None]], dict[str, Any]]


def _measure(job: Job, report: Progress) -> Part:
    import polars  # a short flow's client imports this package, too

    from lossylink.job import Part
    from lossylink.table import Table

    if job.configuration.get("transport", {}).get("protocol") == "rdma":
        raise UserError("transport.protocol = rdma is simulated only: the lab's hosts have no RDMA interface")
    outcome = measure_of(job.experiment.name)(job.configuration, report)
    return Part(
        row=outcome["row"],
        tables={
            name: Table.of(job.label, polars.DataFrame(columns))
            for name, columns in outcome["columns"].items()
        },
        files=outcome.get("files", {}),
        interrupted=outcome["interrupted"],
    )


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
    measures = _measures()
    if experiment not in measures:
        raise UserError(f"{experiment} is not measured live; take one of {', '.join(sorted(measures))}")
    return measures[experiment]


@functools.cache
def _measures() -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for module in modules_in(sys.modules[__name__]):
        found |= getattr(module, "MEASURES", {})
    return found


BACKEND = Backend(
    name="live",
    measure=_measure,
    one_at_a_time=True,
    leaves_out=True,
    no_capture="runs live; point tcpdump at the lab's interfaces",
    no_state="runs live; ask a lab of your own with lossylink lab status",
)
