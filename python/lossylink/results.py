"""The result of one experiment: its rows, its tables and what is needed to run it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars


@dataclass(frozen=True)
class Run:
    """One experiment as it was run, one row per protection."""

    experiment: str
    backend: str
    version: str
    seed: int
    wall_seconds: float
    scenario: dict[str, Any]
    rows: polars.DataFrame
    tables: dict[str, polars.DataFrame] = field(default_factory=dict)
    interrupted: bool = False
