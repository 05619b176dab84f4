"""Finished points of a reproduction, a file each: a point is there whole or not at all.

A point is one job under one protection. Its file is named after everything that decides its result: the
resolved scenario, its seed, the version and the very code, compiled and in Python. A point whose trials grow
has a file for each piece.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import polars

from lossylink._package.code import code
from lossylink._package.writing import whole
from lossylink.running.run import Run
from lossylink.running.sweeping.pieces import Piece, read_name
from lossylink.scenario.fingerprint import fingerprint
from lossylink.scenario.scenario import Scenario

SUMMARY = "summary.json"
PIECE, SECONDS = "piece.json", "seconds"
QUICK_COMPRESSION = 1
"""Pieces are long texts of digits, which would take longer to compress well than to simulate."""
NAME = "name"
"""The file in a point's archive that says which point it is, whatever the archive is called."""
TABLE_SUFFIX = ".parquet"

_DAMAGED = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    zipfile.BadZipFile,
    zlib.error,
    polars.exceptions.PolarsError,
)
"""What reading a file that was cut short, or that is none of ours, may raise."""


class PointStore:
    """A directory of finished points; with ``fresh`` those of earlier calls are not looked at."""

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        self._folder = folder
        self._fresh = fresh
        self._of_this_call: set[Path] = set()
        self.resumed = 0
        """Points taken from an earlier call."""

    def load(self, scenario: Scenario) -> Run | None:
        """The run of a point that an earlier call finished; a damaged file counts as none."""
        run = self.look(scenario)
        self.resumed += run is not None and self._path(scenario) not in self._of_this_call
        return run

    def look(self, scenario: Scenario) -> Run | None:
        """What `load` gives, without counting it as resumed."""
        path = self._path(scenario)
        if self._fresh and path not in self._of_this_call:
            return None
        try:
            return _read(path, path.stem)
        except _DAMAGED:
            return None

    def keep(self, scenario: Scenario, run: Run) -> None:
        """Keep the run of a point, whole or not at all."""
        self._write(self._path(scenario), _files(run))

    def piece_from(self, scenario: Scenario, first: int) -> tuple[Piece, str, float] | None:
        """The longest kept piece of a growing point from a block on, its text, and the seconds that it took.

        The scenario is that of the point with any amount, always the same one.
        """
        paths = self._folder.glob(f"{self._name(scenario)}*.zip")
        found = [
            (piece, path)
            for path in paths
            if (piece := read_name(path.stem)[1]) is not None and piece.first == first
        ]
        for piece, path in sorted(found, key=lambda one: one[0].blocks, reverse=True):
            if self._fresh and path not in self._of_this_call:
                continue
            try:
                return piece, *_read_piece(path, path.stem)
            except _DAMAGED:
                continue
        return None

    def keep_piece(self, scenario: Scenario, piece: Piece, text: str, seconds: float) -> None:
        """Keep a piece of a growing point, whole or not at all."""
        path = self._folder / f"{piece.name(self._name(scenario))}.zip"
        self._write(path, {PIECE: text, SECONDS: repr(seconds)}, level=QUICK_COMPRESSION)

    def _path(self, scenario: Scenario) -> Path:
        return self._folder / f"{self._name(scenario)}.zip"

    def _name(self, scenario: Scenario) -> str:
        return fingerprint(scenario, code())

    def _write(self, path: Path, files: Mapping[str, str | bytes], *, level: int | None = None) -> None:
        """Write beside and rename, so that a crash leaves an older file or none."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as partial, partial.open("wb") as file:
            file.write(_packed({NAME: path.stem, **files}, level))
            file.flush()
            os.fsync(file.fileno())
        self._of_this_call.add(path)


def _packed(files: Mapping[str, str | bytes], level: int | None) -> bytes:
    """A zip archive, whose directory comes last: what was cut short cannot be opened."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _files(run: Run) -> dict[str, str | bytes]:
    """What a run is kept as."""
    files: dict[str, str | bytes] = {SUMMARY: json.dumps(run.summary(), allow_nan=False)}
    for name, table in run.tables.items():
        content = io.BytesIO()
        table.write_parquet(content)
        files[f"{name}{TABLE_SUFFIX}"] = content.getvalue()
    return files


def _read_piece(path: Path, wanted: str) -> tuple[str, float]:
    with zipfile.ZipFile(path) as archive:
        _check(archive, path, wanted)
        return archive.read(PIECE).decode(), float(archive.read(SECONDS))


def _check(archive: zipfile.ZipFile, path: Path, wanted: str) -> None:
    if archive.read(NAME).decode() != wanted:
        raise ValueError(f"{path} is another point")


def _read(path: Path, wanted: str) -> Run:
    with zipfile.ZipFile(path) as archive:
        _check(archive, path, wanted)
        summary = json.loads(archive.read(SUMMARY))
        tables = {
            name.removesuffix(TABLE_SUFFIX): polars.read_parquet(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(TABLE_SUFFIX)
        }
    return Run.of_summary(summary, tables=tables)
