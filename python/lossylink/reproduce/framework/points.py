"""Finished points of a reproduction, a file each: a point is there whole or not at all.

A point is one job under one protection. Its file is named after everything that decides its result: the
resolved scenario, its seed, the version and the very code, compiled and in Python.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from pathlib import Path

import polars

from lossylink.code import code
from lossylink.results import Run
from lossylink.scenario import Scenario
from lossylink.writing import whole

SUMMARY = "summary.json"
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
        """Write beside and rename, so that a crash leaves an older file or none."""
        path = self._path(scenario)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as partial, partial.open("wb") as file:
            file.write(_packed(run, path.stem))
            file.flush()
            os.fsync(file.fileno())
        self._of_this_call.add(path)

    def _path(self, scenario: Scenario) -> Path:
        return self._folder / f"{scenario.fingerprint(code())}.zip"


def _packed(run: Run, name: str) -> bytes:
    """The run as a zip archive, whose directory comes last: what was cut short cannot be opened."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(NAME, name)
        archive.writestr(SUMMARY, json.dumps(run.summary(), allow_nan=False))
        for name, table in run.tables.items():
            content = io.BytesIO()
            table.write_parquet(content)
            archive.writestr(f"{name}{TABLE_SUFFIX}", content.getvalue())
    return buffer.getvalue()


def _read(path: Path, wanted: str) -> Run:
    with zipfile.ZipFile(path) as archive:
        if archive.read(NAME).decode() != wanted:
            raise ValueError(f"{path} is another point")
        summary = json.loads(archive.read(SUMMARY))
        tables = {
            name.removesuffix(TABLE_SUFFIX): polars.read_parquet(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(TABLE_SUFFIX)
        }
    return Run.of_summary(summary, tables=tables)
