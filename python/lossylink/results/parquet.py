"""Tables as Parquet files that say where they are from and what the unit of each column is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lossylink import _native
from lossylink._package.resources import DICTIONARY
from lossylink.declared.table import Table, write_frame

if TYPE_CHECKING:
    import polars

#: The table of a sweep: rows of every point, whose columns are keys of a row.
ROWS = "rows"

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_KEY = re.compile(r"^\| `(?P<key>[^`]+)` \| (?P<unit>[^|`]*)\|", re.MULTILINE)
_COLUMN = re.compile(r"^\| `(?P<table>\w+)` \| `(?P<column>\w+)` \| (?P<unit>[^|]*)\|", re.MULTILINE)


def write_table(
    table: Table | polars.DataFrame,
    path: Path,
    *,
    name: str,
    experiment: str,
    seeds: Sequence[int],
    version: str,
) -> None:
    """Write a table with the seed, the version, the commit and the units of its columns beside the data.

    Parameters
    ----------
    name
        Which table it is: ``trials``, ``series``, ``timeline``, ``intervals``, or ``rows`` of a sweep.
    experiment
        The experiment that it is of: some keys mean one thing in one experiment and another in the next.
    seeds, version
        Those of the run or, of a sweep, of its points; the commit is that of the program that writes.

    Raises
    ------
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import polars, tempfile
    >>> table = polars.DataFrame({"protection": ["lg"], "fct_us": [61.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "trials.parquet"
    ...     write_table(table, path, name="trials", experiment="tcp-fct", seeds=[7], version="0.1.0")
    ...     facts = polars.read_parquet_metadata(path)
    >>> facts["lossylink.seed"], json.loads(facts["lossylink.units"])
    ('7', {'fct_us': 'us'})
    """
    units = units_of(table.columns, name=name, experiment=experiment)
    facts = {
        "lossylink.experiment": experiment,
        "lossylink.seed": ",".join(map(str, seeds)),
        "lossylink.version": version,
        "lossylink.commit": _native.commit(),
        "lossylink.units": json.dumps(units),
    }
    if isinstance(table, Table):
        table.write(path, facts)
    else:
        write_frame(table, path, facts)


def units_of(columns: list[str], *, name: str, experiment: str) -> dict[str, str]:
    """Return the unit of each column that has one, in the words of the data dictionary.

    Examples
    --------
    >>> units_of(["protection", "tx_buffer_kb_max", "loss_rate"], name="rows", experiment="stress")
    {'tx_buffer_kb_max': 'KB', 'loss_rate': 'ratio'}
    """
    known = _row_units(columns, experiment) if name == ROWS else _table_units(name)
    return {column: known[column] for column in columns if known.get(column)}


@cache
def _dictionary() -> dict[str, str]:
    """The data dictionary, section by section."""
    parts = _SECTION.split(DICTIONARY.read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def _table_units(name: str) -> dict[str, str]:
    found = _COLUMN.finditer(_dictionary()["Tables"])
    return {row["column"]: row["unit"].strip() for row in found if row["table"] == name}


def _row_units(columns: list[str], experiment: str) -> dict[str, str]:
    """Units of an experiment's rows. It may have several sections ("throughput", "throughput over RDMA").

    The one that knows most of the columns is what they are of; it comes last, and wins.
    """
    own = [title for title in _dictionary() if title == experiment or title.startswith(f"{experiment} ")]
    own.sort(key=lambda title: len(_section_units(title).keys() & set(columns)))
    titles = ("Every experiment", "On the live backend", "Rows of a sweep", *own)
    return {key: unit for title in titles for key, unit in _section_units(title).items()}


@cache
def _section_units(title: str) -> dict[str, str]:
    return {row["key"]: row["unit"].strip() for row in _KEY.finditer(_dictionary()[title])}
