"""The result of one experiment: its rows, its tables and what is needed to run it again."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import polars


@dataclass(frozen=True)
class Run:
    """One experiment as it was run, one row per protection (one per trial in the Mathis study).

    Attributes
    ----------
    scenario
        Everything decided, section by section, in the user's spelling of units.
    rows
        Results by the keys of ``docs/data-dictionary.md``.
    tables
        ``trials``, ``series`` and ``timeline`` where the experiment has them, with a ``protection`` column.
    files
        Texts to keep beside the summary, by file name: reports of the programs that measured.
    states
        What the two ends of the link were about at the instants that were asked for, by the keys of
        ``docs/data-dictionary.md``.
    interrupted
        True when it was stopped early; rows and tables then hold what had finished.
    """

    experiment: str
    backend: str
    version: str
    seed: int
    wall_seconds: float
    scenario: dict[str, Any]
    rows: polars.DataFrame
    tables: dict[str, polars.DataFrame] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    states: list[dict[str, Any]] = field(default_factory=list)
    interrupted: bool = False

    def summary(self) -> dict[str, Any]:
        """Return the one JSON object that ``--json`` prints and ``summary.json`` holds."""
        states = {"states": self.states} if self.states else {}
        return {
            "experiment": self.experiment,
            "backend": self.backend,
            "version": self.version,
            "seed": self.seed,
            "wall_seconds": round(self.wall_seconds, 6),
            "interrupted": self.interrupted,
            "scenario": self.scenario,
            "rows": [jsonable(row) for row in self.rows.to_dicts()],
            **states,
        }


def jsonable(value: Any) -> Any:
    """Return the value with everything that JSON lacks (infinities, NaN) as nothing.

    Examples
    --------
    >>> jsonable({"ratio": float("nan"), "trials": 3})
    {'ratio': None, 'trials': 3}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: jsonable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(inner) for inner in value]
    return value
