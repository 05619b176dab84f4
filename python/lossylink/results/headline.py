"""The short table that a run ends with: five or six columns that matter, with units, beside no protection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lossylink.declared.column import Column
from lossylink.declared.experiments import experiment_named
from lossylink.results.checks.reasons import reasons
from lossylink.results.screen import cell
from lossylink.statistics.percentiles import NEVER, has_percentile, is_never, tried
from lossylink.statistics.ratios import Sample, ratio_interval

if TYPE_CHECKING:
    import polars

#: What others are held against.
BASELINE = "none"
_ABSENT = "-"
#: What stands for a percentile beyond which too few values lie.
FEW = "few"
_PERCENTILE = re.compile(r"_p(?P<whole>\d+)(?:_(?P<part>\d+))?(?P<of>_[a-z]\w*)?$")


class Headline(Struct, frozen=True):
    """A table as texts: for each column its label and its unit, then the rows."""

    labels: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def headline(
    experiment: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    places: Sequence[str] = (),
    sample: Sample | None = None,
) -> Headline:
    """Return the short table of rows.

    Parameters
    ----------
    rows
        As they are in a run or a sweep.
    places
        Keys that say what a row is of, beside its protection: those of a sweep's grid. A row is held against
        that without protection which is equal in all of them.
    sample
        The flows of a run: a ratio of percentiles then has its 95 % interval behind it.

    Examples
    --------
    >>> row = {"protection": "none", "fct_us_p50": 88.0, "fct_us_p99_9": 2850.9, "flows_hit": 34}
    >>> table = headline("tcp-fct", [row, row | {"protection": "lg", "fct_us_p99_9": 177.2}])
    >>> table.labels
    ('protection', 'p50', 'p99.9', '/ none', 'hit')
    >>> table.rows[1]
    ('lg', '88', '177.2', '0.062x', '34')
    """
    if not rows:
        return Headline((), (), ())
    keys = _places(rows, places)
    bases = {_place(row, keys): row for row in rows if row.get("protection") == BASELINE}
    declared = experiment_named(experiment)
    columns = [column for column in declared.headline_of(rows[0]) if column.key not in keys]
    shown = [_Shown(key, "", [cell(row.get(key)) for row in rows]) for key in keys]
    for column in columns:
        shown.append(_Shown(column.label, column.unit, [text_of(column, row) for row in rows]))
        ratios = [_ratio(column, row, bases.get(_place(row, keys)), sample) for row in rows if column.versus]
        if any(ratio != _ABSENT for ratio in ratios):
            shown.append(_Shown(f"/ {BASELINE}", "", ratios))
    return Headline(
        tuple(one.label for one in shown),
        tuple(one.unit for one in shown),
        tuple(zip(*(one.cells for one in shown), strict=True)),
    )


def headline_frame(
    experiment: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    places: Sequence[str] = (),
    sample: Sample | None = None,
) -> polars.DataFrame:
    """Return the short table of rows as a frame of texts, whose columns are called by label and unit.

    Examples
    --------
    >>> headline_frame("tcp-fct", [{"protection": "none", "fct_us_p50": 88.0}]).columns
    ['protection', 'p50 (us)']
    """
    import polars

    table = headline(experiment, rows, places=places, sample=sample)
    heads = zip(table.labels, table.units, strict=True)
    names = [f"{label} ({unit})" if unit else label for label, unit in heads]
    return polars.DataFrame({name: [row[place] for row in table.rows] for place, name in enumerate(names)})


def why_failed(rows: Sequence[Mapping[str, Any]], places: Sequence[str] = ()) -> list[str]:
    """Return why checks of the rows failed, a line a check."""
    if not any(verdict and verdict["passed"] is False for row in rows for verdict in _verdicts(row)):
        return []
    return reasons(rows, places)


def _verdicts(row: Mapping[str, Any]) -> Iterable[Mapping[str, Any] | None]:
    return (row.get("checks") or {}).values()


class _Shown(Struct, frozen=True):
    label: str
    unit: str
    cells: list[str]


def _places(rows: Sequence[Mapping[str, Any]], places: Sequence[str]) -> list[str]:
    """The given keys, and the protection unless it is the same in many rows."""
    keys = list(places)
    protections = {row.get("protection") for row in rows}
    if "protection" not in keys and "protection" in rows[0] and (len(protections) > 1 or len(rows) == 1):
        keys.append("protection")
    return keys


def _place(row: Mapping[str, Any], keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple(str(row.get(key)) for key in keys if key != "protection")


def _ratio(
    column: Column, row: Mapping[str, Any], base: Mapping[str, Any] | None, sample: Sample | None
) -> str:
    """Write the ratio of a row to that without protection, with its interval where the flows tell one."""
    if base is None or row is base or not (_is_known(column, row) and _is_known(column, base)):
        return _ABSENT
    value, reference = row.get(column.key), base.get(column.key)
    if value is None or not reference:
        return _ABSENT
    words = f"{_times(value / reference)}x"
    if sample is None:
        return words
    ends = ratio_interval(column.key, row["protection"], base["protection"], sample)
    return f"{words} ({'-'.join(map(_times, ends))})" if ends else words


def _times(ratio: float) -> str:
    return f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}"


def text_of(column: Column, row: Mapping[str, Any]) -> str:
    """Write the value of a column.

    Examples
    --------
    >>> text_of(Column("lost", "lost", kind="share", bound="ci"), {"lost": 0.0, "ci": [0.0, 1.84e-05]})
    '< 1.8e-05'
    >>> text_of(Column("hit", "hit", kind="count", of="trials"), {"hit": 34.0, "trials": 2000})
    '34 of 2,000'
    >>> [text_of(Column("fct_us_p99_9", "p99.9"), {"fct_us_p99_9": 2715.2, "trials": n}) for n in (500, 5000)]
    ['few', '2,715']

    A percentile of a latency is one of packets, whatever the number of runs:

    >>> row = {"latency_us_p99": 613.6, "trials": 1, "frames_offered": 40_397}
    >>> text_of(Column("latency_us_p99", "p99"), row)
    '613.6'

    A figure among flows that never ended is no number:

    >>> text_of(Column("fct_us_max", "max"), {"fct_us_max": None, "trials": 497, "flows_unfinished": 3})
    'never'
    """
    value = row.get(column.key)
    if value is None:
        return (NEVER if _is_known(column, row) else FEW) if is_never(column.key, row) else _ABSENT
    if not _is_known(column, row):
        return FEW
    among = tried(row) if column.of == "trials" else row.get(column.of)
    if column.kind == "share":
        bound = row.get(column.bound)
        if value == 0 and bound:
            return f"< {bound[1]:.2g}"
        return f"0 of {among:,.0f}" if value == 0 and among else f"{value:.3g}"
    if column.kind == "count":
        return f"{value:,.0f}" + (f" of {among:,.0f}" if among else "")
    if column.kind == "figure":
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return _interval(value) if isinstance(value, list) else cell(value)


def _is_known(column: Column, row: Mapping[str, Any]) -> bool:
    """Whether a percentile has enough values beyond it; other figures always are known."""
    found = _PERCENTILE.search(column.key)
    if found is None:
        return True
    if column.key.startswith("latency"):
        count = row.get("frames_offered")  # of packets: trials are runs
    else:
        count = row.get(f"flows{found['of']}") if found["of"] else tried(row)
    if count is None:
        return True
    return has_percentile(int(count), float(f"{found['whole']}.{found['part'] or 0}"))


def _interval(ends: Sequence[float]) -> str:
    return " .. ".join(f"{end:.3g}" for end in ends)
