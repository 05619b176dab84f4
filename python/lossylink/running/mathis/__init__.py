"""TCP under random loss against the inverse-square-root law: the study, its figures and its six traps."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lossylink.declared.experiments.mathis import EXPERIMENT

if TYPE_CHECKING:
    from lossylink.running.mathis import traps
    from lossylink.running.mathis.design import Design, Trial, trials
    from lossylink.running.mathis.figures import figure3, figure4
    from lossylink.running.mathis.scenario import jobs, run_trap

__all__ = ["EXPERIMENT", "Design", "Trial", "figure3", "figure4", "jobs", "run_trap", "traps", "trials"]

#: Where each public name lives. They are imported when first used: matplotlib and numpy take half a second.
_HOMES = {
    "Design": "design",
    "Trial": "design",
    "trials": "design",
    "figure3": "figures",
    "figure4": "figures",
    "jobs": "scenario",
    "run_trap": "scenario",
}


def __getattr__(name: str) -> Any:
    if name == "traps":
        return import_module(f"{__name__}.traps")
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
