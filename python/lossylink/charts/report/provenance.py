"""What a reader needs to run an experiment again: versions, seed, command line and machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lossylink._package.manifest import manifest


@dataclass(frozen=True)
class Provenance:
    """Where, when and with what a report was made."""

    command: str
    seed: int
    threads: int
    wall_seconds: float
    finished_at: str
    versions: Mapping[str, str]
    machine: Mapping[str, Any]


def provenance(
    *, seed: int, threads: int, wall_seconds: float, command: Sequence[str] | None = None
) -> Provenance:
    """Record this process, this machine and the versions that matter."""
    record = manifest(seed=seed, command=command)
    return Provenance(
        command=record["command_line"],
        seed=seed,
        threads=threads,
        wall_seconds=wall_seconds,
        finished_at=record["written_at"].replace("T", " ").replace("+00:00", " UTC"),
        versions=record["versions"],
        machine=record["machine"],
    )
