"""Experiments on the live lab: the same scenarios, rows and checks, measured under the kernel's own TCP."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from typing import Any

import polars

from lossylink import _native
from lossylink.backends.live.simulate import simulate
from lossylink.complete_row import complete_row
from lossylink.errors import UserError
from lossylink.results import Run
from lossylink.row_keys import ROW_KEYS, in_order
from lossylink.runner import Progress
from lossylink.scenario import Scenario
from lossylink.scenario.native import configuration
from lossylink.scenario.protection import Protection


def run_scenario(scenario: Scenario, *, progress: Progress | None = None) -> Run:
    """Measure a scenario on the live lab, one protection after another.

    Raises
    ------
    UserError
        What was asked for cannot be measured live; the message says the mend.
    RunError
        The system refused something, or a run failed.
    """
    if scenario.experiment.name == "mathis":
        from lossylink.experiments import mathis  # theory and checks, which the others do not need

        return mathis.run_scenario(scenario, progress=progress, simulate=simulate)
    started = time.monotonic()
    parts, interrupted = _measure_all(scenario, progress)
    return Run(
        experiment=scenario.experiment.name,
        backend="live",
        version=_native.version(),
        seed=scenario.seed,
        wall_seconds=time.monotonic() - started,
        scenario=scenario.describe(),
        rows=polars.DataFrame([part.row for part in parts], infer_schema_length=None),
        tables=_stack([part.tables for part in parts]),
        files={name: text for part in parts for name, text in part.files.items()},
        interrupted=interrupted,
    )


@dataclass(frozen=True)
class _Part:
    """What was measured under one protection."""

    row: dict[str, Any]
    tables: dict[str, polars.DataFrame]
    files: dict[str, str]


def _measure_all(scenario: Scenario, progress: Progress | None) -> tuple[list[_Part], bool]:
    """Measure every protection; Ctrl-C keeps those that are done."""
    parts: list[_Part] = []
    count = len(scenario.protections)
    for number, protection in enumerate(scenario.protections):

        def report(done: float, total: float, *, before: int = number) -> None:
            if progress is not None and total:
                progress(before + done / total, count)

        try:
            parts.append(_measure(scenario, protection, report))
        except KeyboardInterrupt:
            return parts, True
    return parts, False


def _measure(scenario: Scenario, protection: Protection, report: Progress) -> _Part:
    config = configuration(scenario, protection)
    started = time.monotonic()
    try:
        outcome = simulate(json.dumps(config), report)
    except ValueError as error:
        raise UserError(str(error)) from None
    wall = time.monotonic() - started
    told = complete_row(scenario, protection, outcome["row"], configuration=config, wall_seconds=wall)
    # What only the simulator can tell is there all the same, as nothing.
    name = scenario.experiment.name
    row = in_order(name, dict.fromkeys(ROW_KEYS[name]) | told)
    label = polars.lit(protection.label)
    tables = {
        name: polars.DataFrame(columns).with_columns(protection=label).select("protection", *columns)
        for name, columns in outcome["columns"].items()
    }
    prefix = re.sub(r"[^a-z0-9.-]+", "-", protection.label)
    files = {f"{prefix}-{name}": text for name, text in outcome.get("files", {}).items()}
    return _Part(row, tables, files)


def _stack(parts: list[dict[str, polars.DataFrame]]) -> dict[str, polars.DataFrame]:
    names = dict.fromkeys(name for tables in parts for name in tables)
    return {
        name: polars.concat([tables[name] for tables in parts if name in tables], how="diagonal")
        for name in names
    }
