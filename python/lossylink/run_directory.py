"""Directories of results, written whole or not at all: staged beside their place, then renamed into it."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossylink.errors import UserError
from lossylink.frames import flat
from lossylink.manifest import manifest
from lossylink.parquet import write_table
from lossylink.scenario.save import scenario_toml
from lossylink.writing import output_to

if TYPE_CHECKING:
    import polars

    from lossylink.results import Run

#: The file by which a directory is known as one of ours, and may be replaced.
MANIFEST = "manifest.json"


def default_directory(experiment: str, settings: Mapping[str, Any]) -> Path:
    """Return ``runs/<experiment>-<time>-<hash of what was asked>``."""
    asked = json.dumps(settings, sort_keys=True, default=str)
    # A hash that loads no library; two runs of a second are told apart, and nobody is kept from a forgery.
    digest = zlib.crc32(asked.encode())
    return Path("runs") / f"{experiment}-{datetime.now():%Y%m%d-%H%M%S}-{digest:08x}"


@contextmanager
def staged(target: Path) -> Iterator[Path]:
    """Give a directory to write into that becomes ``target`` when the block ends well, or vanishes.

    Raises
    ------
    UserError
        ``target`` cannot be written, or holds something that is not a run; told before the block begins.
    """
    _refuse_foreign(target)
    with output_to(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = _hidden_beside(target)
    try:
        with output_to(target):
            yield staging
            staging.chmod(0o755)
            _move_into_place(staging, target)
    finally:
        remove(staging)


def _hidden_beside(target: Path) -> Path:
    """Make a directory for its user alone, of a name that nobody else thinks of."""
    hidden = target.with_name(f".{target.name}-{os.urandom(8).hex()}")
    hidden.mkdir(mode=0o700)
    return hidden


def remove(directory: Path) -> None:
    """Remove a directory with all that it holds, if it is there."""
    if directory.exists():
        import shutil  # loads what packs archives, and a run that ends well leaves nothing to remove

        shutil.rmtree(directory, ignore_errors=True)


def _refuse_foreign(target: Path) -> None:
    """Refuse to replace what is not a run: a file, or a directory with other things in it."""
    try:
        if target.is_dir():
            if (target / MANIFEST).is_file() or not any(target.iterdir()):
                return
            raise UserError(f"{target} is not empty and holds no run; choose another --output")
    except OSError as error:
        raise UserError(f"cannot read {target}: {error.strerror}; choose another --output") from None
    if target.exists() or target.is_symlink():
        raise UserError(f"{target} is not a directory; choose another --output")


def _move_into_place(staging: Path, target: Path) -> None:
    """Rename, with an earlier run moved aside first and removed last."""
    if not target.exists():
        staging.rename(target)
        return
    aside = _hidden_beside(target) / "run"
    target.rename(aside)
    try:
        staging.rename(target)
    except OSError:
        aside.rename(target)
        raise
    finally:
        remove(aside.parent)


def write_run(
    directory: Path, result: Run, *, command: Sequence[str] | None = None, with_csv: bool = False
) -> None:
    """Write ``summary.json``, tables as Parquet, files, ``states.txt``, ``scenario.toml``, the manifest.

    ``with_csv`` adds ``rows.csv`` and a CSV file for each table.
    """
    write_json(directory / "summary.json", result.summary())
    for name, table in result.parts.items():
        write_table(
            table,
            directory / f"{name}.parquet",
            name=name,
            experiment=result.experiment,
            seeds=[result.seed],
            version=result.version,
        )
    if with_csv:
        for name, table in ({"rows": result.rows} | result.tables).items():
            write_csv(directory / f"{name}.csv", table)
    for name, text in result.files.items():
        (directory / name).write_text(text, encoding="utf-8")
    if result.states:
        from lossylink.states import simulated  # few ask for them

        text = "\n\n\n".join(simulated(state) for state in result.states)
        (directory / "states.txt").write_text(text + "\n", encoding="utf-8")
    (directory / "scenario.toml").write_text(scenario_toml(result.scenario), encoding="utf-8")
    write_json(directory / MANIFEST, manifest(seed=result.seed, command=command))


def write_csv(path: Path, table: polars.DataFrame) -> None:
    """Write a table in plain columns as CSV."""
    # By Python: what polars raises on a full disk has no number by which it is known.
    path.write_text(flat(table).write_csv(), encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write JSON for people and programs: indented, no NaN."""
    path.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n", encoding="utf-8")
