"""``--until``: when a figure is known well enough, in a rule that only the seed and itself decide.

A point is looked at after its own amount of work, and after twice, four times ... as much, and ends where
the interval is narrow enough. The width of an interval follows from how much was seen, and hardly from
whether the figure came out too large or too small. Looks before the last one therefore do not make the
interval wrong: the narrower it is to be, the closer its confidence is to what was asked for (Chow and
Robbins, "On the asymptotic theory of fixed-width sequential confidence intervals for the mean", Annals of
Mathematical Statistics 36, 1965; for a share of the figure: Nadas, ibid. 40, 1969).
``benches/coverage.py`` counts how often it holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from lossylink.declared.backend import Backend
from lossylink.declared.experiment import Experiment, Growth
from lossylink.declared.experiments import all_experiments
from lossylink.declared.job import Job, Part, Progress
from lossylink.errors import UserError, unknown
from lossylink.running.backends import backend_named
from lossylink.running.complete_row import clusters
from lossylink.scenario.scenario import Scenario
from lossylink.statistics.percentiles import percentile_of
from lossylink.units import parse_count, parse_ratio

if TYPE_CHECKING:
    from lossylink.statistics.estimates import Estimate

#: From one look to the next the work grows by this factor.
FACTOR: Final = 2
#: Most work of a point that names no maximum, over its own amount.
MOST_TIMES: Final = 64
_EXAMPLE = "rel=10%@95%"


@dataclass(frozen=True)
class Until:
    """A rule: work is added until half the width of a figure's interval is at most a share of the figure."""

    share: float
    """The largest half width over the figure."""
    confidence: float
    """With which the interval holds."""
    column: str | None = None
    """The key of the figure in a row; that of the experiment when it is not given."""
    most: int | None = None
    """Most trials or packets of a point; `MOST_TIMES` times its own when it is not given."""

    def __str__(self) -> str:
        """Return the rule as it is written."""
        words = [f"rel={100 * self.share:.12g}%@{100 * self.confidence:.12g}%"]
        words += [f"column={self.column}"] if self.column is not None else []
        words += [f"max={self.most}"] if self.most is not None else []
        return ",".join(words)

    def check(self, scenario: Scenario) -> None:
        """Refuse a scenario whose figure has no interval, or one that would be too narrow.

        Raises
        ------
        UserError
            One line that says why, and the mend.
        """
        growth, name = scenario.experiment.growth, scenario.experiment.name
        if growth is None:
            able = ", ".join(one.name for one in all_experiments().values() if one.growth is not None)
            raise UserError(f"--until narrows figures of {able}, and none of {name}")
        # A longer run of a kernel begins as the shorter one did; blocks are the simulator's.
        backend = scenario.values.run.backend
        again = ("sim",) if growth.in_blocks else ("sim", "kernel")
        if backend not in again:
            raise UserError(f"--until adds no work on the backend '{backend}': --set run.backend=sim")
        if scenario.values.run.rare:
            raise UserError("--until does not go with run.rare; raise run.looks instead")
        column = self.column or growth.column
        if column not in growth.shares and not _is_percentile(column, growth):
            known = [*growth.shares, *([growth.column] if growth.table else [])]
            raise unknown("column of --until", column, known)
        own = own_amount(scenario)
        if self.most is not None and self.most < own:
            raise UserError(
                f"--until: max={self.most} is less than {growth.key} = {own}, where a point begins"
            )

    def looks(self, own: int) -> list[int]:
        """Return the amounts of work after which a point of this own amount is looked at.

        Examples
        --------
        >>> Until(0.1, 0.95, most=1000).looks(300)
        [300, 600, 1000]
        """
        most = self.most if self.most is not None else MOST_TIMES * own
        amounts = [own]
        while amounts[-1] < most:
            amounts.append(min(FACTOR * amounts[-1], most))
        return amounts

    def estimate(self, experiment: Experiment, part: Part) -> Estimate | None:
        """Return the figure of a part with its interval; nothing where there is no figure."""
        from lossylink.statistics.estimates import (  # scipy: only for this
            clustered_interval,
            percentile_interval,
        )

        growth = _growth(experiment)
        column, confidence = self.column or growth.column, self.confidence
        if column in growth.shares:
            events, chances, factor, batches = (part.row[key] for key in growth.shares[column])
            clusters = {"design_effect": factor, "batches": batches}
            return clustered_interval(events, chances, **clusters, confidence=confidence) if chances else None
        of = percentile_of(column)
        if of is None:
            raise ValueError(f"{column} is no percentile")
        values = part.tables[growth.table].frame()[of[0]].to_numpy()
        block = experiment.block_trials
        return percentile_interval(values, of[1], block=block, confidence=confidence) if values.size else None

    def is_met(self, estimate: Estimate | None) -> bool:
        """Whether a figure is known well enough; one of which nothing was seen never is.

        A percentile whose whole interval lies among trials that never ended is known: it is never.
        """
        if estimate is None or estimate.value <= 0:
            return False
        if math.isinf(estimate.high):
            return math.isinf(estimate.low)
        return (estimate.high - estimate.low) / 2 <= self.share * estimate.value

    def columns(self, looks: Sequence[Estimate | None]) -> dict[str, Any]:
        """Return what a row says about the rule, after the figures that each look gave."""
        estimate = looks[-1] if looks else None
        return {
            "until": str(self),
            "until_looks": len(looks),
            "until_met": self.is_met(estimate),
            "until_confidence": self.confidence,
            "until_low": None if estimate is None else estimate.low,
            "until_high": None if estimate is None else estimate.high,
        }


def own_amount(scenario: Scenario) -> int:
    """Return how much work a point of this scenario is without a rule."""
    section, _, leaf = _growth(scenario.experiment).key.partition(".")
    return int(getattr(getattr(scenario.values, section), leaf))


def _growth(experiment: Experiment) -> Growth:
    if experiment.growth is None:
        raise ValueError(f"{experiment.name} does not grow")
    return experiment.growth


def _is_percentile(column: str, growth: Growth) -> bool:
    """Whether a key is a percentile of the column that the experiment's own figure is one of."""
    mine, asked = percentile_of(growth.column), percentile_of(column)
    return mine is not None and asked is not None and mine[0] == asked[0]


def parse_until(text: str) -> Until:
    """Read a rule: ``rel=10%@95%``, and after commas ``column=KEY`` and ``max=COUNT``.

    Raises
    ------
    UserError
        One line that says what is wrong.

    Examples
    --------
    >>> str(parse_until("rel=0.1@95%,max=1M,column=fct_us_p99"))
    'rel=10%@95%,column=fct_us_p99,max=1000000'
    """
    given: dict[str, str] = {}
    for word in text.split(","):
        key, equals, value = (part.strip() for part in word.partition("="))
        if not (equals and value) or key in given:
            raise UserError(f"--until {text}: write {_EXAMPLE}, then ,column=KEY or ,max=COUNT, each once")
        given[key] = value
    for key in given:
        if key not in ("rel", "column", "max"):
            raise unknown("part of --until", key, ("rel", "column", "max"))
    found = re.fullmatch(r"([^@]+)@([^@]+)", given.get("rel", ""))
    if found is None:
        raise UserError(f"--until {text}: write {_EXAMPLE}, a share of the figure and a confidence")
    try:
        share, confidence = (parse_ratio(word) for word in found.groups())
        most = parse_count(given["max"]) if "max" in given else None
    except ValueError as error:
        raise UserError(f"--until {text}: {error}") from None
    if not (0 < share < 1 and 0 < confidence < 1):
        raise UserError(f"--until {text}: share and confidence are above 0 and below 1, as in {_EXAMPLE}")
    return Until(share, confidence, given.get("column"), most)


def narrowing(scenario: Scenario, until: Until) -> Backend:
    """Return the scenario's backend, which adds work to each job until the rule is met or at its maximum.

    The row is that of a plain run with as much work, and the columns of the rule beside it.
    """
    backend, growth = backend_named(scenario.values.run.backend), _growth(scenario.experiment)
    amounts = until.looks(own_amount(scenario))

    def measure(job: Job, report: Progress) -> Part:
        looks: list[Estimate | None] = []

        def is_enough(part: Part) -> bool:
            looks.append(until.estimate(scenario.experiment, part))
            return until.is_met(looks[-1])

        if backend.grow is not None and growth.in_blocks:
            part = backend.grow(job, report, amounts, is_enough)
        else:
            part = _anew(backend, job, report, growth.key, amounts, is_enough)
        if part.interrupted or not part.row:
            return replace(part, row={})
        return replace(part, row={**part.row, **until.columns(looks)})

    return replace(backend, measure=measure)


def _anew(
    backend: Backend,
    job: Job,
    report: Progress,
    key: str,
    amounts: Sequence[int],
    is_enough: Callable[[Part], bool],
) -> Part:
    """Run a job again and again, longer each time, until a look is content."""
    section, _, leaf = key.partition(".")
    part = Part()
    for amount in amounts:
        work = {section: {**job.configuration[section], leaf: amount}}
        longer = replace(job, setup=job.setup.changed(work))
        part = backend.measure(longer, report)
        if part.row and "effective_lost_packets" in part.row:
            part = replace(part, row={**part.row, **clusters(dict(part.row), longer.configuration)})
        if part.interrupted or not part.row or is_enough(part):
            break
    return part
