"""The result of one experiment: its rows, its tables and what is needed to run it again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct

from lossylink.declared.experiments import experiment_named
from lossylink.declared.table import Table
from lossylink.errors import UserError
from lossylink.results.frames import html_table, text_table
from lossylink.results.headline import headline_frame, why_failed
from lossylink.scenario.loss import is_independent, parse_loss
from lossylink.statistics.percentiles import PERCENTILES
from lossylink.statistics.ratios import Sample

if TYPE_CHECKING:
    import numpy as np
    import polars
    from numpy.typing import NDArray

#: Of more flows a ratio is as sure as the two digits that are shown, and intervals would take much memory.
MOST_FLOWS = 1_000_000
#: Keys of losses, in the sections ``loss`` and ``path``.
_OF_LINK, _OF_PATH = ("forward", "reverse"), ("loss", "loss_back")
#: Up to this many rows are shown as columns.
SIDE_BY_SIDE = 6


class Result(Struct, frozen=True, dict=True):
    """One experiment as it was run, one row per protection (one per trial in the Mathis study).

    Attributes
    ----------
    scenario
        Everything decided, section by section, in the user's spelling of units.
    records
        Results by the keys of ``docs/data-dictionary.md``; `rows` is a frame of them.
    parts
        Tables ``trials``, ``series`` and ``timeline`` where the experiment has them; `tables` are frames of
        them.
    files
        Texts to keep beside the summary, by file name: reports of the programs that measured.
    states
        What the two ends of the link were about at the instants that were asked for, by the keys of
        ``docs/data-dictionary.md``.
    interrupted
        True when it was stopped early; rows and tables then hold what had finished.
    """

    experiment: str
    backend: str
    version: str
    seed: int
    wall_seconds: float
    scenario: dict[str, Any]
    records: Sequence[Mapping[str, Any]]
    parts: Mapping[str, Table | polars.DataFrame] = {}
    files: dict[str, str] = {}
    states: list[dict[str, Any]] = []
    interrupted: bool = False

    @classmethod
    def of_summary(
        cls, summary: Mapping[str, Any], *, tables: Mapping[str, polars.DataFrame] | None = None
    ) -> Self:
        """Return the run of a ``summary.json`` and its tables."""
        rest = {key: value for key, value in summary.items() if key != "rows"}
        return cls(**rest, records=alike(summary["rows"]), parts=dict(tables or {}))

    @cached_property
    def rows(self) -> polars.DataFrame:
        """Results by the keys of ``docs/data-dictionary.md``, one row per protection."""
        import polars  # takes longer to import than a short run lasts

        return polars.DataFrame(list(self.records), infer_schema_length=None)

    @cached_property
    def tables(self) -> dict[str, polars.DataFrame]:
        """``trials``, ``series`` and ``timeline`` where there are any, with a ``protection`` column."""
        return {name: part.frame() if isinstance(part, Table) else part for name, part in self.parts.items()}

    def tail(self, column: str | None = None) -> polars.DataFrame:
        """Return percentiles up to 99.999 % with their 95 % intervals and how many values lie beyond each.

        Parameters
        ----------
        column
            A column of the table ``trials``; ``fct_us`` by default.

        Returns
        -------
        polars.DataFrame
            A row a protection and a percentile: ``protection``, ``percent``, ``value``, ``low``, ``high`` in
            the unit of the column, ``count`` of all values and ``beyond``, those that are larger. An end that
            the sample is too small for is infinite; a value with few beyond it says little of the tail.

        Raises
        ------
        UserError
            The run has no such column.

        Examples
        --------
        >>> import lossylink
        >>> run = lossylink.run("tcp-fct", protection="lg", settings={"flow.trials": 2000})
        >>> import polars
        >>> run.tail().filter(polars.col("percent") == 99.9)["beyond"].to_list()
        [2]
        """
        import polars

        name = column or "fct_us"
        trials = self.tables.get("trials")
        if trials is None or name not in trials.columns or not trials[name].dtype.is_numeric():
            known = (
                [] if trials is None else [one for one in trials.columns if trials[one].dtype.is_numeric()]
            )
            have = f"its trials have {', '.join(known)}" if known else "it has no trials; tcp-fct has them"
            raise UserError(f"this run of {self.experiment} has no column {name} of trials: {have}")
        block = experiment_named(self.experiment).block_trials
        return polars.DataFrame(
            [
                row
                for (protection,), part in trials.group_by(["protection"], maintain_order=True)
                for row in _tail(str(protection), part[name].drop_nulls().to_numpy(), block)
            ],
            infer_schema_length=None,
        )

    def __str__(self) -> str:
        """Return what was run, the rows as a table, and why checks failed."""
        return "\n".join([self._words(), text_table(self._table()), *why_failed(self.records)])

    def _repr_html_(self) -> str:
        why = "".join(f"<p>{escape(words)}</p>" for words in why_failed(self.records))
        return f"<p>{escape(self._words())}</p>{html_table(self._table())}{why}"

    def _words(self) -> str:
        stopped = ", interrupted" if self.interrupted else ""
        took = f"{self.wall_seconds:.1f} s"
        return (
            f"{self.experiment} on {self.backend}, seed {self.seed}, {took}, version {self.version}{stopped}"
        )

    def _table(self) -> polars.DataFrame:
        """Return what is shown: the columns that matter, beside no protection."""
        return headline_frame(self.experiment, self.records, sample=self.sample)

    @property
    def sample(self) -> Sample:
        """Its flows, for intervals of ratios."""
        experiment = experiment_named(self.experiment)
        # Flows one after another share nothing but a burst of losses that outlasts the first of them.
        are_alone = experiment.one_after_another and self.backend == "sim" and _lost_alone(self.scenario)
        return Sample(self._values, 1 if are_alone else experiment.block_trials)

    def _values(self, protection: str, column: str) -> Sequence[float] | None:
        """Return a column of the flows over a protection; nothing without one, or of too many flows."""
        trials = self.parts.get("trials")
        if trials is None or max(row.get("trials", 0) for row in self.records) > MOST_FLOWS:
            return None
        if isinstance(trials, Table):
            return trials.values(protection, column)
        if column not in trials.columns:
            return None
        found: list[float] = trials.filter(trials["protection"] == protection)[column].drop_nulls().to_list()
        return found

    def summary(self) -> dict[str, Any]:
        """Return the one JSON object that ``--json`` prints and ``summary.json`` holds."""
        states = {"states": self.states} if self.states else {}
        return {
            "experiment": self.experiment,
            "backend": self.backend,
            "version": self.version,
            "seed": self.seed,
            "wall_seconds": round(self.wall_seconds, 6),
            "interrupted": self.interrupted,
            "scenario": self.scenario,
            "rows": [jsonable(dict(row)) for row in self.records],
            **states,
        }


def _lost_alone(scenario: Mapping[str, Any]) -> bool:
    """Whether each frame is lost on its own, on the link and beside it."""
    loss, path = scenario.get("loss", {}), scenario.get("path", {})
    texts = [str(of[key]) for of, keys in ((loss, _OF_LINK), (path, _OF_PATH)) for key in keys if key in of]
    # A trace is a file, which may be gone.
    return all(not text.startswith("trace") and is_independent(parse_loss(text).native) for text in texts)


def _tail(protection: str, values: NDArray[np.float64], block: int) -> Iterator[dict[str, Any]]:
    from lossylink.statistics.estimates import percentile_interval  # scipy, which a run does without

    for percent in PERCENTILES.values():
        estimate = percentile_interval(values, percent, block=block)
        yield {
            "protection": protection,
            "percent": percent,
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "count": values.size,
            "beyond": int((values > estimate.value).sum()),
        }


def alike(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows that all have every key; what a row did not have is nothing.

    Examples
    --------
    >>> alike([{"protection": "none"}, {"protection": "lg", "copies": 1}])
    [{'protection': 'none', 'copies': None}, {'protection': 'lg', 'copies': 1}]
    """
    keys = dict.fromkeys(key for row in rows for key in row)
    return [{key: row.get(key) for key in keys} for row in rows]


def jsonable(value: Any) -> Any:
    """Return the value with everything that JSON lacks (infinities, NaN) as nothing.

    Examples
    --------
    >>> jsonable({"ratio": float("nan"), "trials": 3})
    {'ratio': None, 'trials': 3}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: jsonable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(inner) for inner in value]
    return value
