"""What the modules of a backend's package measure: each names its experiments in ``MEASURES``."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any

from lossylink._package.discovery import modules_in
from lossylink.declared.job import Job, Part
from lossylink.declared.table import Table

#: From a job's configuration and who to tell of progress to row, columns and, maybe, files.
Measure = Callable[[dict[str, Any], Callable[[float, float], None]], dict[str, Any]]


@functools.cache
def measures_in(package: str) -> dict[str, Measure]:
    """Return the functions that a package's modules declare, by the experiment each is for."""
    found: dict[str, Measure] = {}
    for module in modules_in(sys.modules[package]):
        found |= getattr(module, "MEASURES", {})
    return found


def part_of(job: Job, outcome: Mapping[str, Any]) -> Part:
    """Return what a function of `measures_in` gave as a part of a run."""
    import polars  # a short flow's client imports backends, too

    return Part(
        row=outcome["row"],
        tables={
            name: Table.of(job.label, polars.DataFrame(columns))
            for name, columns in outcome["columns"].items()
        },
        files=outcome.get("files", {}),
        interrupted=outcome.get("interrupted", False),
    )
