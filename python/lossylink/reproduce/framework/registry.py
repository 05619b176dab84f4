"""The published experiments that this build can run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lossylink.discovery import modules_in
from lossylink.errors import UserError, unknown
from lossylink.experiments import experiment_named
from lossylink.reproduce import experiments
from lossylink.reproduce.framework.model import PublishedExperiment


def _declared() -> Iterator[PublishedExperiment]:
    for module in modules_in(experiments):
        yield module.EXPERIMENT


WRITTEN: tuple[PublishedExperiment, ...] = tuple(sorted(_declared(), key=lambda one: one.place))
"""Every experiment that is declared, in the order in which they run."""

EXPERIMENTS = tuple(one for one in WRITTEN if "sim" not in experiment_named(one.needs).refused)
"""Those that the simulator can run; an experiment that needs more is not offered."""


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
