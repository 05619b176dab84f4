"""The experiments: a module or a package each, which declares an ``EXPERIMENT``; nothing else lists them."""

from __future__ import annotations

import sys
from functools import cache

from lossylink._package.discovery import module_in, names_in
from lossylink.declared.experiment import Experiment
from lossylink.errors import unknown


@cache
def names() -> tuple[str, ...]:
    """Return the names of all experiments, without importing them.

    Examples
    --------
    >>> names()[:3]
    ('fabric', 'fec', 'mathis')
    """
    return tuple(name.replace("_", "-") for name in names_in(sys.modules[__name__]))


def experiment_named(name: str) -> Experiment:
    """Import and return the experiment, or raise the one-line error that lists them all."""
    if name not in names():
        raise unknown("experiment", name, names())
    experiment: Experiment = module_in(sys.modules[__name__], name).EXPERIMENT
    return experiment


@cache
def all_experiments() -> dict[str, Experiment]:
    """Import and return every experiment, by its name."""
    return {name: experiment_named(name) for name in names()}
