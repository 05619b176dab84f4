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
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
#: How much smaller a counted run is than a timed one: callgrind takes fifty times as long, and runs twice.
SHORTER = 250


#: Configurations of a run that is so many times smaller than the timed one.
Smaller = Callable[[float], Iterable[dict[str, Any]]]


def instructions_per_unit(configurations: Smaller, count_key: str, divisor: int) -> float | None:
    """Return the instructions of one unit, counted by ``count_key`` of rows.

    ``None`` without the tools, and where a case cannot be made so much smaller.
    """
    program = _simulate()
    if program is None:
        return None
    (short, few), (long, many) = (
        _count(program, configurations(divisor * SHORTER * times / 2), count_key) for times in (2.0, 1.0)
    )
    return (long - short) / (many - few) if many > few else None


def _count(program: Path, configurations: Iterable[dict[str, Any]], count_key: str) -> tuple[int, int]:
    """Instructions and units of all configurations."""
    instructions, units = 0, 0
    for configuration in configurations:
        counted, row = _run(program, configuration)
        instructions, units = instructions + counted, units + int(row[count_key])
    return instructions, units


def _run(program: Path, config: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "config.json")
        written.write_text(json.dumps(config), encoding="utf-8")
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", str(program)]
        done = subprocess.run([*command, str(written)], capture_output=True, text=True, check=True)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if counted is None:
        raise RuntimeError(f"callgrind did not say what it counted: {done.stderr.strip()}")
    row: dict[str, Any] = json.loads(done.stdout)
    return int(counted[1]), row


@cache
def _simulate() -> Path | None:
    if not (shutil.which("valgrind") and shutil.which("cargo")):
        return None
    build = ["cargo", "build", "--locked", "--release", "--package", "lossylink-sim", "--example", "simulate"]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "simulate"
