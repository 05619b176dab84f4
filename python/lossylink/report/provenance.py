"""What a reader needs to run an experiment again: versions, seed, command line and machine."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path


@dataclass(frozen=True)
class Provenance:
    """Where, when and with what a report was made."""

    command: str
    seed: int
    threads: int
    wall_seconds: float
    finished_at: str
    versions: dict[str, str]
    machine: dict[str, str]


def provenance(
    *, seed: int, threads: int, wall_seconds: float, command: Sequence[str] | None = None
) -> Provenance:
    """Record this process, this machine and the versions that matter."""
    words = list(command) if command is not None else [Path(sys.argv[0]).name, *sys.argv[1:]]
    return Provenance(
        command=shlex.join(words),
        seed=seed,
        threads=threads,
        wall_seconds=wall_seconds,
        finished_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions={
            "lossylink": _version("lossylink"),
            "Python": platform.python_version(),
            **{name: _version(name) for name in ("numpy", "polars")},
        },
        machine={
            "system": f"{platform.system()} {platform.release()}",
            "architecture": platform.machine(),
            "processor": _processor(),
            "cores": str(os.cpu_count() or "unknown"),
        },
    )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed as a package"


def _processor() -> str:
    """The processor's name; Linux keeps it where `platform` does not look."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
