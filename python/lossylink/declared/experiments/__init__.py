"""The experiments: a module or a package each, which declares an ``EXPERIMENT``; nothing else lists them."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any

from lossylink._package.discovery import names_in
from lossylink.declared.column import Column
from lossylink.declared.experiment import COMMON_KEYS, Experiment, Growth
from lossylink.errors import unknown

EXPERIMENTS: dict[str, Experiment]
"""Every experiment by its name; all are imported when somebody asks for them."""


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
    experiment: Experiment = import_module(f"{__name__}.{name.replace('-', '_')}").EXPERIMENT
    return experiment


@cache
def _all() -> dict[str, Experiment]:
    return {name: experiment_named(name) for name in names()}


def __getattr__(name: str) -> Any:
    if name != "EXPERIMENTS":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return _all()


__all__ = ["COMMON_KEYS", "EXPERIMENTS", "Column", "Experiment", "Growth", "experiment_named", "names"]
