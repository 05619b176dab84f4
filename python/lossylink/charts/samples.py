"""What figures are made of: a row of a run with its part of the tables, and a name for each line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars

from lossylink.charts.palette import name_of
from lossylink.declared.protections import look_of
from lossylink.results.result import Result

#: Slots of lines that are not told apart by their protections.
SLOTS = ("blue", "vermillion", "green", "orange", "purple", "sky", "black", "yellow")
#: Slots of protections without one of their own: those that no protection owns come first.
FREE_SLOTS = ("orange", "sky", "black", "yellow", "purple", "green", "vermillion", "blue")
#: Runs that differ in more settings than these are called by their directories: a longer name is not read.
MOST_TOLD = 3
#: Settings that change no result, or that a row says better.
UNTOLD = frozenset({"protection.schemes", "run.threads"})
#: Words for keys whose last part says too little.
WORDS = {
    "loss.forward": "loss",
    "loss.reverse": "reverse loss",
    "loss.process": "",
    "run.backend": "",
    "experiment": "",
    "name": "",
}


@dataclass(frozen=True)
class Sample:
    """One row of one run, with the part of the run's tables that belongs to its protection."""

    protection: str
    settings: Mapping[str, str]
    """All that was set, by dotted keys, with ``experiment``, ``seed``, ``run.backend`` and the ``name``."""
    row: Mapping[str, Any]
    tables: Mapping[str, polars.DataFrame]

    def number(self, key: str) -> float | None:
        """Return a number of the row; nothing where it is absent or not a number."""
        value = self.row.get(key)
        return float(value) if isinstance(value, (int, float)) and value == value else None


@dataclass(frozen=True)
class Line:
    """Samples that one line of a figure shows."""

    label: str
    slot: str
    samples: tuple[Sample, ...]


def samples_of(runs: Iterable[tuple[str, Result]]) -> list[Sample]:
    """Return the samples of runs, each given with a name: a sample for every row."""
    return [
        Sample(
            protection=str(row.get("protection", "")),
            settings=_settings(name, run),
            row=row,
            tables={key: _part(table, row.get("protection")) for key, table in run.tables.items()},
        )
        for name, run in runs
        for row in run.rows.to_dicts()
    ]


def _settings(name: str, run: Result) -> dict[str, str]:
    flat = {
        f"{section}.{key}": str(value)
        for section, keys in run.scenario.items()
        if isinstance(keys, Mapping) and section != "calibrated"
        for key, value in keys.items()
        if not key.endswith(("_ratio", "_percent"))
    }
    flat = {key: value for key, value in flat.items() if key not in UNTOLD}
    return flat | {
        "experiment": run.experiment,
        "seed": str(run.seed),
        "run.backend": run.backend,
        "name": name,
    }


def _part(table: polars.DataFrame, protection: Any) -> polars.DataFrame:
    if "protection" not in table.columns:
        return table
    return table.filter(polars.col("protection") == protection)


def lines_of(samples: Sequence[Sample], *, across: Sequence[str] = ()) -> list[Line]:
    """Group samples into lines, called by what differs between them: the protection, then settings.

    Parameters
    ----------
    across
        Beginnings of keys that run along a line, such as ``loss.``; without any each sample is a line.

    Examples
    --------
    >>> def sample(protection, loss):
    ...     return Sample(protection, {"loss.forward": loss, "name": loss}, {}, {})
    >>> both = [sample("lg", "1e-3"), sample("lg", "1e-2")]
    >>> [line.label for line in lines_of(both)]
    ['loss 1e-3', 'loss 1e-2']
    >>> [(line.label, len(line.samples)) for line in lines_of(both, across=["loss."])]
    [('LinkGuardian', 2)]
    """
    ignored = (*across, "name") if across else ("name",)
    told = _telling(samples, ignored)
    if not across and len(told) > MOST_TOLD and not _repeats(samples, ("name",)):
        told = ("name",)
    elif not across and _repeats(samples, told):
        told = (*told, "name")
    groups: dict[tuple[str, ...], list[Sample]] = {}
    for sample in samples:
        key = (sample.protection, *(sample.settings.get(one, "") for one in told))
        groups.setdefault(key, []).append(sample)
    protections = tuple(dict.fromkeys(key[0] for key in groups))
    labels = [_label(key[0], told, key[1:], len(protections)) for key in groups]
    slots = _slots([key[0] for key in groups])
    return [
        Line(label + _doubt(group), slot, tuple(group))
        for label, slot, group in zip(labels, slots, groups.values(), strict=True)
    ]


def _doubt(samples: Sequence[Sample]) -> str:
    """Return what a name says of live rows that must not be used: a figure goes where its row does not."""
    return " (not valid)" if any(sample.row.get("valid") is False for sample in samples) else ""


def _telling(samples: Sequence[Sample], ignored: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys whose values differ between samples of one experiment, and that of the experiment.

    Two experiments differ in much that belongs to them: there their names tell enough.
    """
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.settings.get("experiment", ""), []).append(sample)
    keys = dict.fromkeys(key for sample in samples for key in sample.settings)
    head = ("experiment",) if len(groups) > 1 else ()
    differing = (
        key
        for key in keys
        if not key.startswith(ignored)
        and any(len({sample.settings.get(key) for sample in group}) > 1 for group in groups.values())
    )
    return (*head, *differing)


def _repeats(samples: Sequence[Sample], told: tuple[str, ...]) -> bool:
    """Whether two runs cannot be told apart by what was set."""
    keys = [(sample.protection, *(sample.settings.get(one) for one in told)) for sample in samples]
    names = {(key, sample.settings["name"]) for key, sample in zip(keys, samples, strict=True)}
    return len(names) > len(set(keys))


def _label(protection: str, told: tuple[str, ...], values: tuple[str, ...], protections: int) -> str:
    words = [_words(key, value) for key, value in zip(told, values, strict=True) if value]
    head = [name_of(protection)] if protections > 1 or not words else []
    return ", ".join([*head, *words])


def _words(key: str, value: str) -> str:
    leaf = WORDS.get(key, key.rpartition(".")[2].replace("_", " "))
    return f"{leaf} {value}".strip()


def _slots(protections: list[str]) -> list[str]:
    """Return a slot for each line: the first of a protection has the protection's own.

    Protections without an own slot, and further lines of a protection, take those that no line has.

    Examples
    --------
    >>> _slots(["none", "lg", "none", "lg"])[:2] == _slots(["none", "lg"])
    True
    >>> len(set(_slots(["none", "lg", "none", "lg"])))
    4
    """
    first = {protection: place for place, protection in reversed(list(enumerate(protections)))}
    own = [
        look_of(protection).slot if first[protection] == place else None
        for place, protection in enumerate(protections)
    ]
    free = iter([slot for slot in FREE_SLOTS if slot not in own])
    return [slot or next(free, SLOTS[place % len(SLOTS)]) for place, slot in enumerate(own)]


def with_table(samples: Sequence[Sample], table: str, *columns: str) -> list[Sample]:
    """Return the samples whose table has a value in each of the columns."""
    return [
        sample
        for sample in samples
        if table in sample.tables
        and all(
            column in sample.tables[table].columns
            and sample.tables[table][column].drop_nulls().drop_nans().len() > 0
            for column in columns
        )
    ]


def with_keys(samples: Sequence[Sample], *keys: str) -> list[Sample]:
    """Return the samples whose rows have a number at each of the keys."""
    return [sample for sample in samples if all(sample.number(key) is not None for key in keys)]


def distinct(samples: Sequence[Sample], key: Callable[[Sample], float | None]) -> set[float]:
    """Return the different values of a quantity."""
    return {value for sample in samples if (value := key(sample)) is not None}
