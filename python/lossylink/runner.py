"""Runs a scenario: its protections in parallel where that helps; a stop keeps what had finished."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars

from lossylink import _native, backends
from lossylink.complete_row import complete_row
from lossylink.errors import RunError, UserError
from lossylink.pool import run_all
from lossylink.protections import Protection
from lossylink.results import Run
from lossylink.scenario import Scenario, resolve
from lossylink.scenario.native import configuration

#: Called with the work done and the whole work, in the experiment's own unit.
Progress = Callable[[float, float], None]


def run(
    what: str | Path,
    *,
    protection: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    threads: int | None = None,
    backend: str | None = None,
    strict: bool = False,
    pcap: tuple[str, Path] | None = None,
    progress: Progress | None = None,
) -> Run:
    """Run one experiment, or a scenario file, and return its rows and tables.

    Parameters
    ----------
    what
        An experiment (``"stress"``) or the path of a scenario file.
    protection
        Protections to run, one row each; the scenario's own when not given.
    settings
        Dotted keys and their values, as with ``--set``.
    seed
        Decides every random draw: the same scenario and seed give the same rows, whatever the threads.
    threads, backend
        Shorter ways to set ``run.threads`` and ``run.backend``.
    strict
        Refuse what a run would quietly change, such as an MSS that does not fit the MTU.
    pcap
        A hop (``"sw2-sw6"``) and the file to record it to, in pcapng.
    progress
        Called about ten times a second with the work done and the whole work, from any thread.

    Raises
    ------
    UserError
        What was asked for cannot be run; the message says the mend.
    RunError
        The run failed.

    Examples
    --------
    >>> import lossylink
    >>> result = lossylink.run("stress", protection=["lg-nb"], settings={"traffic.packets": 20_000}, seed=1)
    >>> result.rows["protection"].to_list()
    ['lg-nb']
    """
    chosen = dict(settings or {})
    chosen |= {"run.threads": threads} if threads is not None else {}
    chosen |= {"run.backend": backend} if backend is not None else {}
    scenario = resolve(what, settings=chosen, protection=protection, seed=seed, strict=strict)
    return run_scenario(scenario, pcap=pcap, progress=progress)


def run_scenario(
    scenario: Scenario, *, pcap: tuple[str, Path] | None = None, progress: Progress | None = None
) -> Run:
    """Run a scenario that is already resolved; see `run`."""
    special = backends.find(scenario)
    if special is not None:
        if pcap is not None:
            raise UserError(
                f"--pcap records a single simulation, and {scenario.experiment.name} {_why_not(scenario)}"
            )
        return special(scenario, progress=progress)
    if pcap is not None and len(scenario.protections) != 1:
        raise UserError("--pcap records one run; choose one protection with --protection")
    started = time.monotonic()
    parts, interrupted = _simulate_all(scenario, pcap, progress)
    return Run(
        experiment=scenario.experiment.name,
        backend=scenario.values.run.backend,
        version=_native.version(),
        seed=scenario.seed,
        wall_seconds=time.monotonic() - started,
        scenario=scenario.describe(),
        rows=polars.DataFrame([part.row for part in parts], infer_schema_length=None),
        tables=_stack_tables(parts),
        interrupted=interrupted or any(part.interrupted for part in parts),
    )


def _why_not(scenario: Scenario) -> str:
    """Say why what another module carries out cannot be recorded, and what can."""
    if scenario.values.run.backend == "live":
        return "runs live; point tcpdump at the lab's interfaces"
    return "is many of them; take throughput, which is one"


def thread_count(scenario: Scenario) -> int:
    """Return the threads to use: as set, or every core that this process may run on."""
    return scenario.values.run.threads or len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class _Part:
    """What one protection gave."""

    row: dict[str, Any]
    tables: dict[str, polars.DataFrame] = field(default_factory=dict)
    interrupted: bool = False


class _Overall:
    """Sums the progress of all protections; one that has not begun counts as much as the largest that has."""

    def __init__(self, protections: int, tell: Progress | None) -> None:
        self._protections = protections
        self._tell = tell
        self._lock = threading.Lock()
        self._parts: dict[str, tuple[float, float]] = {}

    def update(self, label: str, done: float, total: float) -> None:
        """Take the news of one protection and pass the sum on."""
        if self._tell is None:
            return
        with self._lock:
            self._parts[label] = (done, total)
            totals = [part[1] for part in self._parts.values()]
            unknown = (self._protections - len(totals)) * max(totals)
            self._tell(sum(part[0] for part in self._parts.values()), sum(totals) + unknown)


def _simulate_all(
    scenario: Scenario, pcap: tuple[str, Path] | None, progress: Progress | None
) -> tuple[list[_Part], bool]:
    """Run every protection; returns the parts in the scenario's order and whether Ctrl-C cut them short."""
    threads = thread_count(scenario)
    together = threads if scenario.experiment.spreads == "protections" else 1
    each = max(1, threads // min(together, len(scenario.protections)))
    overall = _Overall(len(scenario.protections), progress)

    def simulate(protection: Protection, stop: threading.Event) -> _Part:
        return _simulate(scenario, protection, threads=each, stop=stop, pcap=pcap, overall=overall)

    parts, interrupted = run_all(simulate, scenario.protections, threads=together)
    return [part for part in parts if part.row], interrupted


def _simulate(
    scenario: Scenario,
    protection: Protection,
    *,
    threads: int,
    stop: threading.Event,
    pcap: tuple[str, Path] | None,
    overall: _Overall,
) -> _Part:
    config = configuration(scenario, protection, threads=threads)
    if pcap is not None:
        config["pcap"] = {"hop": pcap[0], "path": str(pcap[1])}

    def report(done: float, total: float) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        overall.update(protection.label, done, total)

    started = time.monotonic()
    try:
        outcome = _native.simulate(json.dumps(config), report)
    except ValueError as error:
        raise UserError(str(error)) from None
    except RuntimeError as error:
        raise RunError(f"{scenario.experiment.name} with {protection.label}: {error}") from None
    row = complete_row(
        scenario, protection, outcome["row"], configuration=config, wall_seconds=time.monotonic() - started
    )
    tables = {name: _frame(columns, protection.label) for name, columns in outcome["columns"].items()}
    return _Part(row, tables, outcome["interrupted"])


def _frame(columns: Mapping[str, bytes], label: str) -> polars.DataFrame:
    data = {name: polars.Series(_numbers(buffer), dtype=polars.Float64) for name, buffer in columns.items()}
    return polars.DataFrame(data).with_columns(protection=polars.lit(label)).select("protection", *data)


def _numbers(buffer: bytes) -> array[float]:
    """Read little-endian float64; numpy would cost 16 MB of memory for this alone."""
    numbers = array("d")
    numbers.frombytes(buffer)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _stack_tables(parts: Sequence[_Part]) -> dict[str, polars.DataFrame]:
    names = dict.fromkeys(name for part in parts for name in part.tables)
    return {
        name: polars.concat([part.tables[name] for part in parts if name in part.tables], how="diagonal")
        for name in names
    }
