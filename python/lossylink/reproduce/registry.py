"""The published experiments that this build can run."""

from __future__ import annotations

from collections.abc import Sequence

from lossylink.reproduce import stress, tcp_fct
from lossylink.reproduce.model import PublishedExperiment

EXPERIMENTS: tuple[PublishedExperiment, ...] = (stress.EXPERIMENT, tcp_fct.EXPERIMENT)


def names() -> tuple[str, ...]:
    """Names for ``--only``, in the order in which they run."""
    return tuple(experiment.name for experiment in EXPERIMENTS)


def select(only: Sequence[str] | None) -> tuple[PublishedExperiment, ...]:
    """The experiments of those names, in our order; all of them without names.

    Raises
    ------
    ValueError
        A name that is not in the table; the message lists those that are.
    """
    if only is None:
        return EXPERIMENTS
    for name in only:
        if name not in names():
            raise ValueError(f"no published experiment is called {name!r}; there are {', '.join(names())}")
    if not only:
        raise ValueError(f"no published experiment was named; there are {', '.join(names())}")
    return tuple(experiment for experiment in EXPERIMENTS if experiment.name in only)
