"""The published experiments that this build can run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lossylink._package import published as published_figures
from lossylink._package.discovery import modules_in
from lossylink.declared.experiments import experiment_named
from lossylink.errors import UserError, unknown
from lossylink.reproduce import experiments
from lossylink.reproduce.framework.model import QUICK_DIVISOR, PublishedExperiment, Scale

#: A place in a publication, as people write it.
_PLACE = re.compile(
    r"(?P<kind>fig(?:ure)?|tab(?:le)?|sec(?:tion)?)s?[.\s_-]*(?P<number>\d+(?:\.\d+)*)[\s(]*(?P<letter>[a-z])?\)?"
)


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
            shown = _showing(name, backend)
            if shown:
                raise UserError(f"--only names experiments: for '{name}' write --only {','.join(shown)}")
            raise unknown(f"published experiment on the backend {backend}", name, names(backend))
    if not only:
        raise UserError(f"no published experiment was named; valid: {', '.join(names(backend))}")
    return tuple(experiment for experiment in offered(backend) if experiment.name in only)


def _showing(word: str, backend: str) -> list[str]:
    """Return the experiments whose claims a published figure, table or section holds, if a word names one.

    Examples
    --------
    >>> _showing("figure11", "sim"), _showing("Fig. 11(c)", "sim"), _showing("stress", "sim")
    (['tcp-fct', 'rdma-fct'], ['rdma-fct'], [])
    """
    match = _PLACE.fullmatch(word.strip().lower())
    if match is None:
        return []
    place = rf"{match['kind'][:3]}[a-z]* (?:\d+\w* and )?{match['number']}"
    letter = rf"\(?{match['letter']}\b" if match["letter"] else r"(?!\d)"
    published = published_figures.load()
    return [
        one.name
        for one in offered(backend)
        if any(
            re.search(place + letter, source.lower())
            for source in (one.source, *(claim.source for claim in one.claims(published)))
        )
    ]
