"""Real Linux hosts in virtual time: each job is a guest, a kernel of its own around the simulated path.

A module beside this one that has ``MEASURES`` measures one kind of traffic, as in the live lab's package.
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
    import polars

    from lossylink.job import Part
    from lossylink.table import Table

    if (job.configuration.get("transport") or {}).get("protocol") == "rdma":
        raise UserError("transport.protocol = rdma is simulated only: --set transport.protocol=tcp")
    outcome = measure_of(job.experiment.name)(job.configuration, report)
    return Part(
        row=outcome["row"],
        tables={
            name: Table.of(job.label, polars.DataFrame(columns))
            for name, columns in outcome["columns"].items()
        },
    )


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
    measures = _measures()
    if experiment not in measures:
        *others, last = sorted(measures)
        raise UserError(f"{experiment} is not measured in a kernel: take {', '.join(others)} or {last}")
    return measures[experiment]


@functools.cache
def _measures() -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for module in modules_in(sys.modules[__name__]):
        found |= getattr(module, "MEASURES", {})
    return found


BACKEND = Backend(
    name="kernel",
    measure=_measure,
    leaves_out=True,
    no_capture="runs in a kernel; run tcpdump in a guest",
    no_state="runs in a kernel; take the simulator",
)
