"""The experiments: a module or a package each, which declares an ``EXPERIMENT``; nothing else lists them."""

from __future__ import annotations

import sys

from lossylink.discovery import modules_in
from lossylink.errors import unknown
from lossylink.experiments._column import Column
from lossylink.experiments._declaration import COMMON_KEYS, Experiment, Growth

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT for module in modules_in(sys.modules[__name__])
}
"""Every experiment by its name."""


def experiment_named(name: str) -> Experiment:
    """Return the experiment, or raise the one-line error that lists them all."""
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]


__all__ = ["COMMON_KEYS", "EXPERIMENTS", "Column", "Experiment", "Growth", "experiment_named"]
