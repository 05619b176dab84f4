"""Measures the simulator and compares with earlier measurements on the same kind of machine.

Every case runs in a process of its own, on the threads that it names, and is repeated; the fastest repetition
counts, because everything else on the machine can only slow one down. ``benches/history.jsonl`` keeps a line
of each measurement.

    python benches/bench.py [--quick] [--only CASE,...] [--dry-run]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import lossylink
from instructions import counted
from lossylink.manifest import machine

HISTORY = Path(__file__).with_name("history.jsonl")
REPETITIONS = 3
#: A case is flagged when it takes this much longer than the median of its history.
REGRESSION = 1.2
QUICK_DIVISOR = 20


@dataclass(frozen=True)
class Case:
    """One experiment, what it counts, and the goal for the time of one of them."""

    experiment: str
    protection: tuple[str, ...]
    threads: int
    unit: str
    count_key: str
    goal_ns: float
    size: dict[str, int]
    settings: dict[str, Any] = field(default_factory=dict)


CASES = {
    "stress-none": Case(
        "stress", ("none",), 1, "frame", "packets_sent", 20.0, {"traffic.packets": 20_000_000}
    ),
    "stress-lg": Case("stress", ("lg",), 1, "frame", "packets_sent", 62.5, {"traffic.packets": 20_000_000}),
    "stress-lg-nb": Case(
        "stress", ("lg-nb",), 1, "frame", "packets_sent", 62.5, {"traffic.packets": 20_000_000}
    ),
    "tcp-fct": Case(
        "tcp-fct", ("none", "lg", "lg-nb"), 2, "flow", "trials", 20_000.0, {"flow.trials": 5_000}
    ),
    "rdma-fct": Case(
        "rdma-fct", ("none", "lg", "lg-nb"), 2, "message", "trials", 3_300.0, {"flow.trials": 100_000}
    ),
    "cubic-10g": Case(
        "throughput",
        ("none",),
        1,
        "simulated second",
        "simulated_seconds",
        286e6,
        {},
        {"loss.forward": "0%"},
    ),
    "workload": Case("workload", ("none", "lg"), 2, "flow", "trials", 1_000_000.0, {"flow.trials": 2_000}),
    "reno-10g": Case(
        "throughput",
        ("none",),
        1,
        "segment",
        "segments_sent",
        100.0,
        {},
        {"congestion_control": "reno", "run.duration": "7s", "run.warmup": "0s", "run.cooldown": "0s"},
    ),
}


def measure(case: Case, divisor: int) -> dict[str, Any]:
    """Run a case in this process; gives time and instructions of one unit, and peak memory."""
    sizes = {key: max(1, size // divisor) for key, size in case.size.items()}
    with counted() as counter:
        started = time.perf_counter()
        run = lossylink.run(
            case.experiment,
            protection=case.protection,
            threads=case.threads,
            settings={**case.settings, **sizes},
        )
        seconds = time.perf_counter() - started
    units = int(run.rows[case.count_key].sum())
    return {
        "seconds": seconds,
        "ns": seconds * 1e9 / units,
        "instructions": counter.instructions / units if counter.instructions else None,
        "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measure_apart(name: str, divisor: int) -> dict[str, Any]:
    """Repeat a case in fresh processes; gives the fastest."""
    command = [sys.executable, __file__, "--case", name, "--divisor", str(divisor)]
    found = []
    for _ in range(REPETITIONS):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"error: {name}: {done.stderr.strip().splitlines()[-1]}")
        found.append(json.loads(done.stdout))
    return min(found, key=lambda one: float(one["ns"]))


def earlier(name: str, processor: str, divisor: int) -> list[float]:
    """Return the times of a case on the same kind of machine, at the same size."""
    if not HISTORY.is_file():
        return []
    records = [json.loads(line) for line in HISTORY.read_text().splitlines() if line.strip()]
    return [
        record["cases"][name]["ns"]
        for record in records
        if record["machine"]["processor"] == processor
        and record["divisor"] == divisor
        and name in record["cases"]
    ]


def table_of(results: dict[str, dict[str, Any]], processor: str, divisor: int) -> tuple[Table, list[str]]:
    """Set the results beside the goals and the history; gives the table and the cases that got slower."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("case", "ns each", "million/s", "instructions", "MiB", "goal ns", "history", "change"):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    slower = []
    for name, found in results.items():
        past = earlier(name, processor, divisor)
        usual = statistics.median(past) if past else None
        if usual is not None and found["ns"] > usual * REGRESSION:
            slower.append(name)
        instructions = found["instructions"]
        table.add_row(
            f"{name} (a {CASES[name].unit})",
            f"{found['ns']:,.1f}",
            f"{1e3 / found['ns']:,.3f}",
            f"{instructions:,.0f}" if instructions else "-",
            f"{found['memory_mib']:,.0f}",
            f"{CASES[name].goal_ns:,.1f}",
            f"{usual:,.1f}" if usual is not None else "-",
            f"{found['ns'] / usual - 1:+.0%}" if usual is not None else "-",
        )
    return table, slower


def commit() -> str:
    """Return the commit that is measured, marked when the tree differs from it."""
    command = ["git", "-C", str(HISTORY.parent), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure the simulator.")
    parser.add_argument("--only", help="cases, separated by commas", default=",".join(CASES))
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_DIVISOR} times smaller")
    parser.add_argument("--dry-run", action="store_true", help="keep no history")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--divisor", type=int, default=1, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Measure what was asked for, show it, and keep it."""
    asked = arguments()
    if asked.case:
        print(json.dumps(measure(CASES[asked.case], asked.divisor)))
        return 0
    names = [name.strip() for name in asked.only.split(",")]
    unknown = [name for name in names if name not in CASES]
    if unknown:
        print(f"error: unknown case '{unknown[0]}'; valid: {', '.join(CASES)}", file=sys.stderr)
        return 2
    divisor = QUICK_DIVISOR if asked.quick else 1
    facts = machine()
    results = {}
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        results[name] = measure_apart(name, divisor)
    table, slower = table_of(results, facts["processor"], divisor)
    Console().print(table)
    if not asked.dry_run:
        record = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "commit": commit(), "machine": facts}
        with HISTORY.open("a", encoding="utf-8") as history:
            history.write(json.dumps({**record, "divisor": divisor, "cases": results}) + "\n")
    for name in slower:
        print(f"slower than its history by more than {REGRESSION - 1:.0%}: {name}", file=sys.stderr)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
