"""Time series of runs in flent's data format, version 4, a gzipped JSON file a sample.

The field names are those of flent's ``resultset.py``: ``metadata``, ``version``, ``x_values``, ``results``
and ``raw_values``. A file says that it is of flent's test ``tcp_1up``, or of ``tcp_nup`` for several flows:
flent has plots for these. The rate is flent's ``TCP upload``, the latency of packets its ``Ping (ms) ICMP``.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars

from lossylink._package.writing import whole
from lossylink.charts.samples import Sample, lines_of, samples_of, with_table
from lossylink.errors import UserError
from lossylink.results.result import Result

FORMAT_VERSION = 4
SUFFIX = ".flent.gz"
ONE_FLOW, SEVERAL_FLOWS = "tcp_1up", "tcp_nup"
UPLOAD, SUM, PING = "TCP upload", "TCP upload sum", "Ping (ms) ICMP"
WINDOW = "tcp_cwnd"
#: Letters of a file's name, without the suffix.
LONGEST_NAME = 120
#: Simulated time has no date: every run begins at this one, so that the same run gives the same bytes.
BEGIN = datetime(2000, 1, 1, tzinfo=UTC)

#: Columns of tables over time: the rate in Gb/s, the latency in microseconds and the window in segments.
TABLES = {
    "timeline": ("send_gbps", None, None),
    "series": ("throughput_gbps", "latency_us_ewma", "cwnd_packets"),
}


def write_flent(runs: Iterable[tuple[str, Result]], folder: Path) -> list[Path]:
    """Write a file for each sample that has a rate over time, called by what tells it from the others.

    Raises
    ------
    UserError
        No run has a rate over time.
    """
    samples = samples_of(runs)
    found = [sample for table, (rate, _, _) in TABLES.items() for sample in with_table(samples, table, rate)]
    if not found:
        raise UserError("flent draws time series, and no run has a rate over time; run timeline or fec")
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for line in lines_of(found):
        for sample in line.samples:
            file = folder / f"{_file_name(sample, line.label, len(files))}{SUFFIX}"
            data = flent_data(sample, line.label, file.name)
            text = json.dumps(data, indent=2, sort_keys=True, allow_nan=False)
            with (
                whole(file) as partial,
                partial.open("wb") as raw,
                gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
            ):
                packed.write(text.encode())
            files.append(file)
    return files


def _file_name(sample: Sample, label: str, number: int) -> str:
    """Return a name without blanks; one that had to be cut ends with a number."""
    name = re.sub(r"[^A-Za-z0-9.-]+", "_", f"{sample.settings['experiment']}-{label}").strip("_")
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}-{number}"


def flent_data(sample: Sample, title: str, file_name: str) -> dict[str, Any]:
    """Return a sample as flent's JSON object, rates in Mbit/s and latencies in milliseconds."""
    kind = next(table for table, (rate, _, _) in TABLES.items() if with_table([sample], table, rate))
    table, (rate, latency, window) = sample.tables[kind], TABLES[kind]
    time_s = table["time_s"].to_numpy()
    flows = int(sample.number("flows") or 1)
    upload = UPLOAD if flows == 1 else SUM
    results = {upload: _numbers(table, rate, 1e3)}
    if latency is not None:
        results[PING] = _numbers(table, latency, 1e-3)
    raw = {name: _raw(time_s, values) for name, values in results.items()}
    if window is not None and window in table.columns:
        windows = _numbers(table, window, 1.0)
        results[f"{upload}::{WINDOW}"] = windows
        for point, value in zip(raw[upload], windows, strict=True):
            point |= {WINDOW: value} if value is not None else {}
    return {
        "metadata": _metadata(sample, title, file_name, time_s, flows),
        "version": FORMAT_VERSION,
        "x_values": [float(value) for value in time_s],
        "results": results,
        "raw_values": raw,
    }


def _numbers(table: polars.DataFrame, column: str, factor: float) -> list[float | None]:
    """Return a column in flent's unit; what is not told is nothing."""
    values = table[column].cast(polars.Float64).to_list()
    return [None if value is None or not math.isfinite(value) else value * factor for value in values]


def _raw(time_s: Sequence[float] | np.ndarray[Any, Any], values: list[float | None]) -> list[dict[str, Any]]:
    begin = BEGIN.timestamp()
    return [
        {"t": begin + float(at), "dur": _step(time_s), **({"val": value} if value is not None else {})}
        for at, value in zip(time_s, values, strict=True)
    ]


def _step(time_s: Sequence[float] | np.ndarray[Any, Any]) -> float:
    return float(np.median(np.diff(time_s))) if len(time_s) > 1 else 1.0


def _metadata(
    sample: Sample, title: str, file_name: str, time_s: np.ndarray[Any, Any], flows: int
) -> dict[str, Any]:
    length = float(time_s[-1] - time_s[0] + _step(time_s))
    return {
        "NAME": ONE_FLOW if flows == 1 else SEVERAL_FLOWS,
        "TITLE": title,
        "NOTE": f"lossylink {sample.settings['experiment']}, seed {sample.settings['seed']}; simulated time",
        "TIME": _date(BEGIN),
        "T0": _date(BEGIN),
        "HOST": "h8",
        "HOSTS": ["h8"],
        "LOCAL_HOST": "h4",
        "LENGTH": length,
        "TOTAL_LENGTH": length,
        "STEP_SIZE": _step(time_s),
        "DATA_FILENAME": file_name,
        "TEST_PARAMETERS": {} if flows == 1 else {"upload_streams": str(flows)},
        "SERIES_META": {},
        "IP_VERSION": 4,
        "BATCH_NAME": None,
        "BATCH_TIME": None,
        "BATCH_TITLE": None,
        "BATCH_UUID": None,
        "FAILED_RUNNERS": 0,
        "LOSSYLINK_SETTINGS": dict(sample.settings),
    }


def _date(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
