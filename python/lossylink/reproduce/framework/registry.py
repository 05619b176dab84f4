"""The published experiments that this build can run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lossylink.discovery import modules_in
from lossylink.errors import UserError, unknown
from lossylink.experiments import experiment_named
from lossylink.reproduce import experiments
from lossylink.reproduce.framework.model import QUICK_DIVISOR, PublishedExperiment, Scale


def _declared() -> Iterator[PublishedExperiment]:
    for module in modules_in(experiments):
        yield module.EXPERIMENT


WRITTEN: tuple[PublishedExperiment, ...] = tuple(sorted(_declared(), key=lambda one: one.place))
"""Every experiment that is declared, in the order in which they run."""


def offered(backend: str = "sim") -> tuple[PublishedExperiment, ...]:
    """Those that a backend can run; an experiment that needs more is not offered."""
    return tuple(one for one in WRITTEN if backend not in experiment_named(one.needs).refused)


EXPERIMENTS = offered()
"""Those that the simulator can run."""


def names(backend: str = "sim") -> tuple[str, ...]:
    """Names for ``--only``, in the order in which they run."""
    return tuple(experiment.name for experiment in offered(backend))


@dataclass(frozen=True)
class Chosen:
    """An experiment and the size in which it runs."""

    experiment: PublishedExperiment
    scale: Scale


def choose(only: Sequence[str] | None, *, quick: bool = False, backend: str = "sim") -> tuple[Chosen, ...]:
    """The experiments of those names, in our order; without names all, those on request in their quick form.

    Raises
    ------
    UserError
        A name that is not in the table, or that the backend cannot run; the message lists those that are.
    """

    def scale(experiment: PublishedExperiment) -> Scale:
        return Scale(QUICK_DIVISOR if quick or (only is None and experiment.on_request) else 1)

    return tuple(Chosen(experiment, scale(experiment)) for experiment in _named(only, backend))


def _named(only: Sequence[str] | None, backend: str) -> tuple[PublishedExperiment, ...]:
    if only is None:
        return offered(backend)
    for name in only:
        if name not in names(backend):
            raise unknown(f"published experiment on the backend {backend}", name, names(backend))
    if not only:
        raise UserError(f"no published experiment was named; valid: {', '.join(names(backend))}")
    return tuple(experiment for experiment in offered(backend) if experiment.name in only)
