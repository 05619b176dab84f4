"""What it would cost to decide the claims that stay open: trials, time on this machine, and a budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from lossylink.reproduce.framework.model import Outcome, Price, Verdict
from lossylink.reproduce.framework.quantity import figure
from lossylink.reproduce.framework.result import ExperimentResult
from lossylink.reproduce.growth.amounts import DURATION, about, large
from lossylink.reproduce.growth.contest import Contest
from lossylink.reproduce.growth.samples import MOST_TRIALS

ROOM: Final = 1.5
"""A budget has so many times the time that is expected: the expectation rests on one interval."""
_MINUTE, _HOUR = 60.0, 3600.0


def prices(contested: Sequence[Contest], *, spent_seconds: float) -> list[Price | None]:
    """The price of each claim; nothing for one that is decided.

    A budget has room for the time that this call spent, for the cheaper claims and for the claim itself.
    """
    order = sorted(range(len(contested)), key=lambda place: contested[place].seconds)
    found: list[Price | None] = [None] * len(contested)
    needed = spent_seconds
    for place in order:
        one = contested[place]
        if one.judgement.outcome is Outcome.UNDECIDABLE or one.is_open:
            found[place] = _price(one, needed)
            needed += one.seconds if _is_in_reach(one) else 0.0
    return found


def price_of_full_form(result: ExperimentResult, verdict: Verdict) -> Price | None:
    """The price of a claim about the published amount of work, where a quick form ran in place of it."""
    if verdict.judgement.outcome is not Outcome.UNDECIDED or not result.is_quick:
        return None
    kept = result.kept
    time = "" if kept is None else f", about {lasting(kept.wall_seconds)}"
    return Price(
        f"in full it is decided{time}: lossylink reproduce --only {result.experiment.name}",
        seconds=None if kept is None else kept.wall_seconds,
    )


def _price(one: Contest, before_seconds: float) -> Price:
    failures = [sample.failure for sample in one.samples.values() if sample.failure]
    if failures:
        return Price(f"more of it failed: {failures[0]}")
    if not math.isfinite(one.times):
        return Price("the figure lies on the bound: no number of trials is known to decide it")
    amount = sum(sample.amount * (one.times - 1.0) for sample in one.limiting)
    cost = f"{about(one.key, amount)}, about {lasting(one.seconds)} on this machine"
    if not _is_in_reach(one):
        most = f"a sample has at most {large(MOST_TRIALS)} trials, for which there is memory"
        return Price(f"{cost}; {most}", amount, one.seconds)
    budget = budget_text(before_seconds + ROOM * one.seconds)
    return Price(f"{cost}: --budget {budget}", amount, one.seconds, budget)


def _is_in_reach(one: Contest) -> bool:
    """Whether all that the claim needs fits into memory."""
    most = max(sample.amount for sample in one.limiting)
    return one.key == DURATION or most * one.times <= MOST_TRIALS


def lasting(seconds: float) -> str:
    """A time as people estimate it.

    Examples
    --------
    >>> [lasting(seconds) for seconds in (0.2, 42.0, 700.0, 9000.0)]
    ['1 s', '42 s', '12 min', '2.5 h']
    """
    if seconds < _MINUTE:
        return f"{max(1.0, seconds):.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{figure(seconds / _HOUR, digits=2)} h"


def budget_text(seconds: float) -> str:
    """A round budget that is not less, as ``--budget`` reads it.

    Examples
    --------
    >>> [budget_text(seconds) for seconds in (100, 181, 700, 4000)]
    ['2m', '4m', '15m', '2h']
    """
    minutes = math.ceil(seconds / _MINUTE)
    if minutes <= 10:
        return f"{minutes}m"
    if minutes <= 60:
        return f"{5 * math.ceil(minutes / 5)}m"
    return f"{math.ceil(minutes / 60)}h"
