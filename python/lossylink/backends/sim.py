"""The simulator: each job is one call of the native module, which takes JSON and gives a row and columns."""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Mapping

import polars

from lossylink import _native
from lossylink.backends._declaration import Backend
from lossylink.job import Job, Part, Progress


def _measure(job: Job, report: Progress) -> Part:
    outcome = _native.simulate(json.dumps(job.configuration), report)
    tables = {name: _table(columns) for name, columns in outcome["columns"].items()}
    row, states, interrupted = outcome["row"], outcome["states"], outcome["interrupted"]
    return Part(row=row, tables=tables, states=states, interrupted=interrupted)


def _table(columns: Mapping[str, bytes]) -> polars.DataFrame:
    return polars.DataFrame(
        {name: polars.Series(_numbers(buffer), dtype=polars.Float64) for name, buffer in columns.items()}
    )


def _numbers(buffer: bytes) -> array[float]:
    """Read little-endian float64; numpy would cost 16 MB of memory for this alone."""
    numbers = array("d")
    numbers.frombytes(buffer)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


BACKEND = Backend(name="sim", measure=_measure)
