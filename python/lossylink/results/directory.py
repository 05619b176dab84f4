"""Directories of results, written whole or not at all: staged beside their place, then renamed into it."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossylink._package.holding import FILES, MANIFEST, Holding, holding_of, refuse
from lossylink._package.manifest import manifest
from lossylink._package.writing import output_to
from lossylink.errors import UserError
from lossylink.results.frames import flat
from lossylink.results.parquet import write_table
from lossylink.results.result import Result
from lossylink.results.states import simulated
from lossylink.scenario.save import scenario_toml

if TYPE_CHECKING:
    import polars


def default_directory(experiment: str, settings: Mapping[str, Any]) -> Path:
    """Return ``runs/<experiment>-<time>-<hash of what was asked>``."""
    asked = json.dumps(settings, sort_keys=True, default=str)
    # A hash that loads no library; two runs of a second are told apart, and nobody is kept from a forgery.
    digest = zlib.crc32(asked.encode())
    name = f"{experiment}-{datetime.now():%Y%m%d-%H%M%S}-{digest:08x}"
    names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next(path for path in (Path("runs") / one for one in names) if not path.exists())


class Staged:
    """A result under way.

    Attributes
    ----------
    folder
        Where its files are written.
    target
        Where it goes when it is whole.
    replaces
        What it takes the place of, if anything.
    """

    def __init__(self, folder: Path, target: Path, replaces: Holding | None) -> None:
        self.folder, self.target, self.replaces = folder, target, replaces

    def give_way(self) -> None:
        """Go beside the target and leave what it holds: this result is less than was asked for."""
        if self.replaces is not None:
            self.target, self.replaces = _free_beside(self.target, "interrupted"), None

    def move(self) -> None:
        """Go to the target; beside it, if another result has come there meanwhile."""
        _name_files(self.folder)
        if self.replaces is None and self.target.is_dir() and any(self.target.iterdir()):
            self.target = _free_beside(self.target, "also")
        _move_into_place(self.folder, self.target)


@contextmanager
def staged(target: Path, *, replace: bool = False) -> Iterator[Staged]:
    """Give a result to write that is in ``target`` when the block ends well, or vanishes.

    What ``target`` holds stays until then. With ``replace`` another result gives way; files that are not of
    lossylink stay where they are.

    Raises
    ------
    UserError
        ``target`` cannot be written, holds another result, or is no folder of results; told before the block
        begins.
    """
    held = _refuse_foreign(target)
    if held is not None and not replace:
        raise refuse(target, held)
    with output_to(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = _hidden_beside(target)
    try:
        with output_to(target):
            result = Staged(staging, target, held)
            yield result
            staging.chmod(0o755)
            result.move()
    finally:
        remove(staging)


def _hidden_beside(target: Path) -> Path:
    """Make a directory for its user alone, of a name that nobody else thinks of."""
    hidden = target.with_name(f".{target.name}-{os.urandom(8).hex()}")
    hidden.mkdir(mode=0o700)
    return hidden


def _free_beside(target: Path, word: str) -> Path:
    """Return a name beside a directory that nothing has."""
    names = (f"{target.name}-{word}", *(f"{target.name}-{word}-{number}" for number in range(2, 1000)))
    return next(path for path in map(target.with_name, names) if not path.exists())


def remove(directory: Path) -> None:
    """Remove a directory with all that it holds, if it is there."""
    if directory.exists():
        shutil.rmtree(directory, ignore_errors=True)


def _refuse_foreign(target: Path) -> Holding | None:
    """Return the result in a directory; refuse a file, or a directory with other things alone."""
    try:
        if target.is_dir():
            held = holding_of(target)
            if held is None and any(target.iterdir()):
                raise UserError(f"{target} is not empty and holds no run; choose another --output")
            return held
    except OSError as error:
        raise UserError(f"cannot read {target}: {error.strerror}; choose another --output") from None
    if target.exists() or target.is_symlink():
        raise UserError(f"{target} is not a directory; choose another --output")
    return None


def _name_files(folder: Path) -> None:
    """Name all files of a result in its manifest: they are all of lossylink."""
    manifest_path = folder / MANIFEST
    if manifest_path.is_file():
        told = json.loads(manifest_path.read_text(encoding="utf-8"))
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        write_json(manifest_path, told | {FILES: files})


def _move_into_place(staging: Path, target: Path) -> None:
    """Rename, with an earlier result moved aside first and removed last; what is not of it moves back."""
    held = holding_of(target)
    if held is None:
        staging.rename(target)
        return
    aside = _hidden_beside(target) / "result"
    target.rename(aside)
    try:
        staging.rename(target)
    except OSError:
        aside.rename(target)
        raise
    _move_others(aside, target, held.files)
    remove(aside.parent)


def _move_others(aside: Path, target: Path, files: frozenset[Path], below: Path = Path()) -> None:
    """Move what is not among ``files`` to its old place; to ``NAME.kept`` if the new result has the name."""
    for entry in sorted((aside / below).iterdir()):
        path = below / entry.name
        if any(path in file.parents for file in files):
            _move_others(aside, target, files, path)
        elif path not in files:
            (target / below).mkdir(parents=True, exist_ok=True)
            place = target / path
            entry.rename(place.with_name(f"{place.name}.kept") if place.exists() else place)


def write_run(
    directory: Path, result: Result, *, command: Sequence[str] | None = None, with_csv: bool = False
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
        text = "\n\n\n".join(simulated(state) for state in result.states)
        (directory / "states.txt").write_text(text + "\n", encoding="utf-8")
    (directory / "scenario.toml").write_text(scenario_toml(result.scenario), encoding="utf-8")
    told = manifest(seed=result.seed, command=command)
    write_json(directory / MANIFEST, told | {FILES: run_files(result, with_csv=with_csv)})


def run_files(result: Result, *, with_csv: bool = False) -> list[str]:
    """Return the names of the files that `write_run` writes."""
    tables = [f"{name}.parquet" for name in result.parts]
    tables += [f"{name}.csv" for name in ("rows", *result.parts)] if with_csv else []
    states = ["states.txt"] if result.states else []
    return sorted(["summary.json", *tables, *result.files, *states, "scenario.toml", MANIFEST])


def write_csv(path: Path, table: polars.DataFrame) -> None:
    """Write a table in plain columns as CSV."""
    # By Python: what polars raises on a full disk has no number by which it is known.
    path.write_text(flat(table).write_csv(), encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write JSON for people and programs: indented, no NaN."""
    path.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n", encoding="utf-8")
