"""The published experiments that this build can run."""

from __future__ import annotations

from collections.abc import Sequence

from lossylink.errors import UserError, unknown
from lossylink.reproduce import (
    ablation,
    fec,
    mathis,
    rdma_fct,
    stress,
    tcp_fct,
    tcp_fct_2mb,
    tcp_fct_143,
    throughput,
    timeline,
    workload,
)
from lossylink.reproduce.model import PublishedExperiment

WRITTEN: tuple[PublishedExperiment, ...] = (
    stress.EXPERIMENT,
    tcp_fct.EXPERIMENT,
    tcp_fct_143.EXPERIMENT,
    tcp_fct_2mb.EXPERIMENT,
    rdma_fct.EXPERIMENT,
    throughput.EXPERIMENT,
    ablation.EXPERIMENT,
    timeline.EXPERIMENT,
    workload.EXPERIMENT,
    mathis.EXPERIMENT,
    fec.EXPERIMENT,
)
"""Every experiment that is declared, in the order in which they run."""

SIMULATED = frozenset(
    {"stress", "tcp-fct", "rdma-fct", "throughput", "timeline", "workload", "mathis", "fec"}
)
"""What the simulator of this build can run; an experiment that needs more is not offered."""

EXPERIMENTS = tuple(experiment for experiment in WRITTEN if experiment.needs in SIMULATED)


def names() -> tuple[str, ...]:
    """Names for ``--only``, in the order in which they run."""
    return tuple(experiment.name for experiment in EXPERIMENTS)


def select(only: Sequence[str] | None, *, quick: bool = False) -> tuple[PublishedExperiment, ...]:
    """The experiments of those names, in our order; without names all but those that run on request.

    A ``quick`` look without names takes those on request that are short when they are small.

    Raises
    ------
    UserError
        A name that is not in the table; the message lists those that are.
    """
    if only is None:
        return tuple(
            experiment
            for experiment in EXPERIMENTS
            if not experiment.on_request or (quick and experiment.quick_by_default)
        )
    for name in only:
        if name not in names():
            raise unknown("published experiment", name, names())
    if not only:
        raise UserError(f"no published experiment was named; valid: {', '.join(names())}")
    return tuple(experiment for experiment in EXPERIMENTS if experiment.name in only)
