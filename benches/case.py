"""What one case of the benchmark is, and the two kinds that there are."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import callgrind

#: Repetitions of a case in processes of its own; the fastest counts, because everything else on the
#: machine can only slow one down.
REPETITIONS = 3


class Case(Protocol):
    """Something that is measured: what a unit of it is, and the goal for the time of one."""

    @property
    def unit(self) -> str:
        """What is counted."""

    @property
    def goal_ns(self) -> float | None:
        """Nanoseconds that one of them may take, if there is a goal."""

    def measure(self, name: str, divisor: int) -> dict[str, Any]:
        """Measure the case, at 1/``divisor`` of its size: ``ns``, and what else there is to know."""


@dataclass(frozen=True)
class Simulation:
    """An experiment of the simulator, run in processes of its own on ``threads`` threads.

    ``size`` are the settings that a smaller run divides, each with its unit.
    """

    experiment: str
    protection: tuple[str, ...]
    unit: str
    count_key: str
    goal_ns: float
    size: dict[str, tuple[float, str]]
    settings: dict[str, Any] = field(default_factory=dict)
    threads: int = 1

    def settings_at(self, divisor: float) -> dict[str, Any]:
        """Return the settings of a run that is ``divisor`` times smaller."""

        def scaled(size: float, unit: str) -> str | int:
            return f"{size / divisor:.6f}{unit}" if unit else max(1, round(size / divisor))

        return {**self.settings, **{key: scaled(*size) for key, size in self.size.items()}}

    def configurations_at(self, divisor: float) -> list[dict[str, Any]]:
        """Return what the simulator is given for each protection of such a run, on one thread."""
        from lossylink.scenario.resolving import resolve

        settings, protections = self.settings_at(divisor), list(self.protection)
        scenario = resolve(self.experiment, settings=settings, protection=protections)
        return [setup.configuration for setup in scenario.setups]

    def run_here(self, divisor: int) -> dict[str, Any]:
        """Run in this process; gives time and instructions of one unit, and peak memory."""
        import lossylink
        from instructions import counted

        settings = self.settings_at(divisor)
        with counted() as counter:
            started = time.perf_counter()
            run = lossylink.run(
                self.experiment, protection=self.protection, threads=self.threads, settings=settings
            )
            seconds = time.perf_counter() - started
        units = int(run.rows[self.count_key].sum())
        return {
            "seconds": seconds,
            "ns": seconds * 1e9 / units,
            "instructions": counter.instructions / units if counter.instructions else None,
            "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }

    def measure(self, name: str, divisor: int) -> dict[str, Any]:
        """Repeat in fresh processes; gives the fastest, and the memory of a run a quarter as long."""
        best = min((_apart(name, divisor) for _ in range(REPETITIONS)), key=lambda one: float(one["ns"]))
        best["quarter_memory_mib"] = _apart(name, 4 * divisor)["memory_mib"]
        if best["instructions"] is None:
            best["instructions"] = callgrind.instructions_per_unit(
                self.configurations_at, self.count_key, divisor
            )
        return best


@dataclass(frozen=True)
class Measurement:
    """A function that measures by itself and returns the nanoseconds of one unit."""

    unit: str
    goal_ns: float | None
    function: Callable[[], float]

    def measure(self, name: str, divisor: int) -> dict[str, Any]:  # noqa: ARG002 - as every case
        """Call the function; its size is its own affair."""
        return {"ns": self.function()}


def _apart(name: str, divisor: int) -> dict[str, Any]:
    bench = Path(__file__).with_name("bench.py")
    command = [sys.executable, str(bench), "--case", name, "--divisor", str(divisor)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: {name}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
