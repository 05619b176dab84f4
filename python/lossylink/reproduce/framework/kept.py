"""Verdicts of a full run, kept to stand beside the quick form of an experiment that takes long.

A maintainer writes them anew after ``lossylink reproduce --only NAME``, from a tree without changes::

    python -m lossylink.reproduce.framework.kept runs/reproduce NAME
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lossylink.reproduce.framework.model import Outcome
from lossylink.reproduce.framework.tally import tally
from lossylink.results.directory import write_json

FOLDER: Final = Path(__file__).parents[1] / "kept"
SUMMARY: Final = "reproduce.json"


@dataclass(frozen=True)
class KeptVerdict:
    """What became of a claim in the full run."""

    claim: str
    source: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class Kept:
    """A full run of an experiment, with everything that it takes to run it again."""

    name: str
    command: str
    commit: str
    finished_at: str
    seed: int
    wall_seconds: float
    verdicts: tuple[KeptVerdict, ...]

    @property
    def origin(self) -> str:
        """Where the verdicts are from, in one sentence."""
        return (
            f"In full, kept from commit {self.commit[:12]} ({self.finished_at}, seed {self.seed}, "
            f"{self.wall_seconds / 60:.0f} min): {self.command}"
        )

    @property
    def tally(self) -> str:
        """How many claims met which outcome."""
        return tally(Counter(verdict.outcome for verdict in self.verdicts))

    @property
    def open_verdicts(self) -> tuple[KeptVerdict, ...]:
        """Claims that do not hold."""
        return tuple(one for one in self.verdicts if one.outcome not in {Outcome.HOLDS, Outcome.SET_UP})


def load(name: str, *, folder: Path = FOLDER) -> Kept | None:
    """The full run of an experiment that is kept, if there is one."""
    path = folder / f"{name}.json"
    if not path.is_file():
        return None
    record = json.loads(path.read_text(encoding="utf-8"))
    verdicts = tuple(
        KeptVerdict(one["claim"], one["source"], Outcome(one["outcome"]), one["reason"])
        for one in record.pop("verdicts")
    )
    return Kept(**record, verdicts=verdicts)


def keep(output: Path, name: str, *, commit: str, folder: Path = FOLDER) -> Path:
    """Keep the verdicts of an experiment from the output of `reproduce`; returns the file.

    Raises
    ------
    ValueError
        The output has no complete full run of the experiment, or more than that one run.
    """
    summary = json.loads((output / SUMMARY).read_text(encoding="utf-8"))
    found = [one for one in summary["experiments"] if one["name"] == name]
    if not found or not found[0]["complete"] or found[0]["divisor"] != 1:
        raise ValueError(f"{output} has no complete full run of {name}")
    if len(summary["experiments"]) != 1 or summary["points_resumed"]:
        raise ValueError(f"{output}: run {name} alone and with --fresh, or its time is not that of the run")
    path = folder / f"{name}.json"
    folder.mkdir(exist_ok=True)
    write_json(path, _record(name, summary["provenance"], found[0]["verdicts"], commit))
    return path


def _record(
    name: str, origin: Mapping[str, Any], verdicts: list[dict[str, Any]], commit: str
) -> dict[str, Any]:
    return {
        "name": name,
        "command": f"lossylink reproduce --only {name} --seed {origin['seed']}",
        "commit": commit,
        "finished_at": origin["finished_at"],
        "seed": origin["seed"],
        "wall_seconds": round(origin["wall_seconds"], 1),
        "verdicts": [{key: one[key] for key in ("claim", "source", "outcome", "reason")} for one in verdicts],
    }


def main() -> None:
    """Keep what an output directory has; the commit is that of the working tree, which must be clean."""
    output, name = Path(sys.argv[1]), sys.argv[2]
    if subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True).stdout:
        sys.exit("the working tree has changes: commit them, run the experiment, then keep it")
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    print(keep(output, name, commit=head.stdout.strip()))


if __name__ == "__main__":
    main()
