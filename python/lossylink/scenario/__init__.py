"""Scenarios: what a user writes, checked and turned into what the simulator reads.

What checks a scenario takes a tenth of a second to load. It is loaded when first used, so that the commands'
help and the live lab do without.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossylink.scenario.resolving import Scenario, resolve

__all__ = ["Scenario", "resolve"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'lossylink.scenario' has no attribute '{name}'")
    return getattr(import_module("lossylink.scenario.resolving"), name)
