"""Counts instructions with valgrind's callgrind, where the kernel lends no hardware counter.

The example ``simulate`` runs a configuration without Python. Two runs, one twice as long as the other, are
counted: their difference is free of what a run costs to begin.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
#: How much smaller a counted run is than a timed one: callgrind takes fifty times as long, and runs twice.
SHORTER = 250


#: Configurations of a run that is so many times smaller than the timed one.
Smaller = Callable[[float], Iterable[dict[str, Any]]]


@dataclass(frozen=True)
class Counted:
    """What two runs took, one twice as long as the other, and what came of them."""

    #: Instructions of one unit; ``None`` where the longer run has no more units than the shorter.
    per_unit: float | None
    rows: list[dict[str, Any]]


def instructions_per_unit(configurations: Smaller, count_key: str, divisor: float) -> float | None:
    """Return the instructions of one unit, counted by ``count_key`` of rows.

    ``None`` without the tools, and where a case cannot be made so much smaller.
    """
    counted = count(configurations, count_key, divisor)
    return None if counted is None else counted.per_unit


def count(
    configurations: Smaller,
    count_key: str,
    divisor: float,
    features: tuple[str, ...] = (),
    variables: Mapping[str, str] | None = None,
) -> Counted | None:
    """Count the instructions of a unit in a program with these features; ``None`` without the tools."""
    program = _simulate(features)
    if program is None:
        return None
    rows: list[dict[str, Any]] = []
    taken = []
    for times in (2.0, 1.0):
        instructions, units = 0, 0
        for configuration in configurations(divisor * SHORTER * times / 2):
            counted, row = _run(program, configuration, variables or {})
            instructions, units = instructions + counted, units + int(row[count_key])
            rows.append(row)
        taken.append((instructions, units))
    (short, few), (long, many) = taken
    return Counted((long - short) / (many - few) if many > few else None, rows)


def _run(program: Path, config: dict[str, Any], variables: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "config.json")
        written.write_text(json.dumps(config), encoding="utf-8")
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/out",
            str(program),
            str(written),
        ]
        environment = {**os.environ, **variables}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"callgrind did not say what it counted: {done.stderr.strip()}")
    row: dict[str, Any] = json.loads(done.stdout)
    return int(found[1]), row


@cache
def _simulate(features: tuple[str, ...]) -> Path | None:
    if not (shutil.which("valgrind") and shutil.which("cargo")):
        return None
    build = ["cargo", "build", "--locked", "--release", "--package", "lossylink-sim", "--example", "simulate"]
    build += [f"--features={','.join(features)}"] if features else []
    # Builds with other features stand in a folder of their own, so that neither takes the other's place.
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), *features)
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, env=environment)
    return target / "release" / "examples" / "simulate"
