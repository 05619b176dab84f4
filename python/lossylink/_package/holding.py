"""What a folder of results holds: one result, which gives way to another only if a user says so.

The files of a result are known by the list in its manifest, by the names that workers give their files, and
in folders of earlier versions by the names that results had. Whatever else is there is the user's, and stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from lossylink.errors import UserError

#: The file that says with what a result was made, and which files are its own.
MANIFEST = "manifest.json"
FILES = "files"
"""The key of a manifest under which these files stand, relative to the folder."""
QUESTION = "question"
"""The key of a sweep's manifest with a digest of what all its points ask."""
POINTS = "points"
"""Where sweeps and reproductions keep what is finished."""

SUMMARY, REPRODUCTION, MEASUREMENT = "summary.json", "reproduce.json", "measurement.json"
#: Files of sweeps that are written after the manifest.
_AFTERWARDS = ("rows.csv", "figure.svg")
#: Names that results of earlier versions had, whose manifests name no files.
_EARLIER = (
    *(SUMMARY, REPRODUCTION, MEASUREMENT, MANIFEST, "scenario.toml", "states.txt", "report.html"),
    *("forward.trace", "reverse.trace", "rows.parquet", *_AFTERWARDS),
    *(f"{table}.{kind}" for table in ("trials", "series", "timeline") for kind in ("parquet", "csv")),
)
#: What workers of sweeps call their files, and reproductions their points.
_SHARD = re.compile(r"\.?[a-z0-9]+-[A-Za-z0-9-]+-\d+-[0-9a-f]{8}(\.[a-z_]+)?\.parquet|[0-9a-f]{64}\.zip")


class Holding(Struct, frozen=True):
    """The result in a folder.

    Attributes
    ----------
    kind
        ``run``, ``sweep``, ``reproduction``, ``measurement`` or ``result``.
    words
        What it is, for a sentence.
    files
        Its files that are there, relative to the folder.
    question
        What a sweep asks; empty where its manifest does not say.
    """

    kind: str
    words: str
    files: frozenset[Path]
    question: str = ""


def holding_of(folder: Path) -> Holding | None:
    """Return the result that a folder holds; nothing for one that is not there, is empty, or holds none."""
    found = _read(folder / MANIFEST)
    kind, words = _what(folder, found)
    if not kind:
        return None
    named = found.get(FILES)
    names = [*(named if isinstance(named, list) else _EARLIER), *(_AFTERWARDS if kind == "sweep" else ())]
    files = {Path(str(name)) for name in names if _is_within(str(name))}
    files |= {path.relative_to(folder) for path in worker_files(folder)}
    there = frozenset(path for path in files if (folder / path).is_file())
    return Holding(kind, words, there, str(found.get(QUESTION, "")))


def worker_files(folder: Path) -> Iterator[Path]:
    """Yield the files that workers of sweeps and reproductions have written below a folder."""
    points = folder / POINTS
    if points.is_dir():
        yield from (path for path in points.iterdir() if _SHARD.fullmatch(path.name))


def refuse(folder: Path, holding: Holding) -> UserError:
    """Return the error for a folder that holds another result."""
    return UserError(
        f"{folder} holds {holding.words}; add --replace to take its place, or choose another --output"
    )


def make_way(folder: Path, files: Iterable[Path]) -> None:
    """Remove files of a result, and folders that nothing is left in."""
    for path in files:
        (folder / path).unlink(missing_ok=True)
    for parent in sorted({above for path in files for above in path.parents}, reverse=True):
        if parent != Path() and not any((folder / parent).glob("*")):
            (folder / parent).rmdir()


def _what(folder: Path, manifest: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind of a result, and what it is in words."""
    summary = _read(folder / SUMMARY)
    of = f" of {summary['experiment']}" if "experiment" in summary else ""
    if "grid" in summary:
        over = ", ".join(summary["grid"])
        return "sweep", f"a sweep{of} over {over} with {summary.get('points', 'some')} points"
    if "rows" in summary:
        return "run", f"a run{of} with seed {summary.get('seed', 'unknown')}"
    if (folder / REPRODUCTION).is_file():
        return "reproduction", "a reproduction"
    if (folder / MEASUREMENT).is_file():
        return "measurement", "a measurement of a link"
    workers = [path.suffix for path in worker_files(folder)]
    if QUESTION in manifest or ".parquet" in workers:
        return "sweep", "a sweep that has not ended"
    if ".zip" in workers:
        return "reproduction", "a reproduction that has not ended"
    return ("result", "another result") if (folder / MANIFEST).is_file() else ("", "")


def _read(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one where there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_within(name: str) -> bool:
    """Whether a name of a manifest is that of a file below the folder."""
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and path != Path()
