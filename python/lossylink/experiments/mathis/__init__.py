"""TCP under random loss against the inverse-square-root law: the study, its figures and its six traps."""

from __future__ import annotations

from typing import Any

from lossylink.experiments.mathis import traps
from lossylink.experiments.mathis.design import Design, Trial, trials
from lossylink.experiments.mathis.scenario import as_run, run_scenario, run_trap
from lossylink.experiments.mathis.study import Study, run

__all__ = [
    "Design",
    "Study",
    "Trial",
    "as_run",
    "figure3",
    "figure4",
    "run",
    "run_scenario",
    "run_trap",
    "traps",
    "trials",
]

_FIGURES = ("figure3", "figure4")


def __getattr__(name: str) -> Any:
    """Load matplotlib only for those who draw."""
    if name in _FIGURES:
        from lossylink.experiments.mathis import figures  # heavy

        return getattr(figures, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
