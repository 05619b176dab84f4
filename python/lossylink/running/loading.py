"""Reads back what `lossylink.results.directory` and `lossylink.running.sweeping` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars

from lossylink.errors import UserError
from lossylink.results.captures import read_capture
from lossylink.results.result import Result
from lossylink.running.run import Run
from lossylink.running.sweeping import Sweep, read_sweep

SUMMARY = "summary.json"
CAPTURE = ".pcapng"
REPRODUCTION = "reproduce.json"


def load(directory: str | Path) -> Run | Sweep:
    """Load a result directory: of `lossylink run`, of a point of `lossylink reproduce`, or of a sweep.

    Parameters
    ----------
    directory
        One that holds a ``summary.json``.

    Returns
    -------
    Run or Sweep
        As it was when it was written; texts that programs reported stay in the directory.

    Raises
    ------
    UserError
        There is no result, or it is damaged.

    Examples
    --------
    >>> import lossylink, tempfile
    >>> settings = {"traffic.packets": 10_000}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     one = lossylink.run("stress", protection="lg", settings=settings).save(f"{folder}/one")
    ...     lossylink.load(one).rows["packets_sent"].to_list()
    [10000]
    """
    folder = Path(directory)
    summary = _summary(folder)
    if "grid" in summary:
        return read_sweep(folder, summary)
    return _run(folder, summary)


def load_run(directory: str | Path) -> Run:
    """Load the directory of a single run; raises as `load`, and when it is a sweep's."""
    folder = Path(directory)
    summary = _summary(folder)
    if "grid" in summary:
        raise UserError(f"{folder} is a sweep; name a single run")
    return _run(folder, summary)


def load_runs(directory: str | Path) -> list[tuple[str, Result]]:
    """Load runs, each with a name: that of a directory, every point of a sweep, or a capture's segments."""
    if Path(directory).suffix == CAPTURE:
        return [(Path(directory).stem, read_capture(Path(directory)))]
    loaded = load(directory)
    name = Path(directory).resolve().name
    return [(name, loaded)] if isinstance(loaded, Run) else [(name, run) for run in loaded.runs()]


def _summary(folder: Path) -> dict[str, Any]:
    path = folder / SUMMARY
    try:
        summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(_missing(folder)) from None
    except NotADirectoryError:
        raise UserError(f"{folder} is a file; name the directory of a run") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise UserError(f"{path} is damaged; run it again") from None
    if not isinstance(summary, dict) or "rows" not in summary:
        raise UserError(f"{path} is no summary of a run; run it again")
    return summary


def _missing(folder: Path) -> str:
    """Say what is wrong with a directory without a summary, and which one may have been meant."""
    if not folder.exists():
        return f"there is no {folder}; name the directory of a run, as lossylink run prints it"
    inner = sorted(path.parent for path in folder.glob(f"*/*/{SUMMARY}"))
    inner = inner or sorted(path.parent for path in folder.glob(f"*/{SUMMARY}"))
    if inner:
        what = "a reproduction" if (folder / REPRODUCTION).is_file() else "many runs"
        return f"{folder} holds {what}; name single runs of it, such as {inner[0]}"
    return f"{folder} holds no run; name a directory that lossylink run or sweep has written"


def _run(folder: Path, summary: dict[str, Any]) -> Run:
    try:
        tables = {path.stem: polars.read_parquet(path) for path in sorted(folder.glob("*.parquet"))}
        return Run.of_summary(summary, tables=tables)
    except (OSError, TypeError, polars.exceptions.PolarsError) as error:
        raise UserError(f"{folder} is damaged: {str(error).splitlines()[0]}; run it again") from None
