"""Measures the cases of every module in this folder and compares with earlier measurements.

A module that defines ``CASES`` (a name and a :class:`case.Case` each) takes part. ``benches/history.jsonl``
keeps a line of each measurement, with its machine and its commit: a case that takes longer than it used to
on the same kind of machine is flagged.

    python benches/bench.py [--quick] [--only CASE,...] [--dry-run]
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.table import Table

from case import Case, Simulation
from lossylink._package.manifest import machine
from tables import show

FOLDER = Path(__file__).parent
HISTORY = FOLDER / "history.jsonl"
#: A case is flagged when it takes this much longer than the median of its history.
REGRESSION = 1.2
#: Memory is flat when a run needs at most this much more than one a quarter as long.
FLAT_MIB = 8.0
QUICK_DIVISOR = 20


def cases() -> dict[str, Case]:
    """Return the cases of all modules, in the order of their names."""
    found: dict[str, Case] = {}
    for path in sorted(FOLDER.glob("*.py")):
        if path.name != Path(__file__).name:
            found.update(getattr(importlib.import_module(path.stem), "CASES", {}))
    return found


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


def table_of(
    measured: dict[str, Case], results: dict[str, dict[str, Any]], processor: str, divisor: int
) -> tuple[Table, list[str]]:
    """Set the results beside the goals and the history; gives the table and what is to be complained of."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    headings = ("case", "ns each", "million/s", "instructions", "MiB", "goal ns", "history", "change")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "case" else "right")
    complaints = []
    for name, found in results.items():
        past = earlier(name, processor, divisor)
        usual = statistics.median(past) if past else None
        if usual is not None and found["ns"] > usual * REGRESSION:
            complaints.append(f"{name} is slower than its history by more than {REGRESSION - 1:.0%}")
        if found.get("memory_mib", 0.0) > found.get("quarter_memory_mib", 0.0) + FLAT_MIB:
            complaints.append(f"{name} needs more memory the longer it runs")
        table.add_row(
            f"{name} (a {measured[name].unit})",
            f"{found['ns']:,.1f}",
            f"{1e3 / found['ns']:,.3f}",
            _number(found.get("instructions"), ",.0f"),
            _number(found.get("memory_mib"), ",.0f"),
            _number(measured[name].goal_ns, ",.1f"),
            _number(usual, ",.1f"),
            _number(found["ns"] / usual - 1 if usual is not None else None, "+.0%"),
        )
    return table, complaints


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def commit() -> str:
    """Return the commit that is measured, marked when the tree differs from it by more than its history."""
    head = _git("rev-parse", "--short", "HEAD")
    differs = _git("status", "--porcelain", "--untracked-files=no", "--", ":/", f":!{HISTORY}")
    return (head or "unknown") + ("-dirty" if differs else "")


def _git(*words: str) -> str:
    command = ["git", "-C", str(FOLDER), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def arguments(names: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure what must be fast.")
    parser.add_argument("--only", help="cases, separated by commas", default=",".join(names))
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_DIVISOR} times smaller")
    parser.add_argument("--dry-run", action="store_true", help="keep no history")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--divisor", type=int, default=1, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Measure what was asked for, show it, and keep it."""
    known = cases()
    asked = arguments(list(known))
    if asked.case:
        case = known[asked.case]
        assert isinstance(case, Simulation), "only a simulation is repeated in processes of its own"
        print(json.dumps(case.run_here(asked.divisor)))
        return 0
    names = [name.strip() for name in asked.only.split(",")]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"error: unknown case '{unknown[0]}'; valid: {', '.join(known)}", file=sys.stderr)
        return 2
    divisor = QUICK_DIVISOR if asked.quick else 1
    facts = machine()
    results = {}
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        results[name] = known[name].measure(name, divisor)
    table, complaints = table_of(known, results, facts["processor"], divisor)
    show(table)
    if not asked.dry_run:
        record = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "commit": commit(), "machine": facts}
        with HISTORY.open("a", encoding="utf-8") as history:
            history.write(json.dumps({**record, "divisor": divisor, "cases": results}) + "\n")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
