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
    if _is_in_reach(one):
        budget = budget_text(before_seconds + ROOM * one.seconds)
        return Price(f"{_cost(one)}: --budget {budget}", _more(one), one.seconds, budget)
    if one.key == DURATION:
        return Price("the figure lies on its bound")
    if not one.may_move:
        return Price(f"{_cost(one)}; {_MOST}", _more(one), one.seconds)
    # The figure is about as far from its bound as it may move: the most that there is room for may decide.
    seconds = sum(sample.seconds_to(MOST_TRIALS) for sample in one.limiting)
    budget = budget_text(before_seconds + seconds)
    if not math.isfinite(one.times):
        return Price(f"the figure lies on its bound; {_MOST}: --budget {budget}", budget=budget)
    words = f"{_cost(one)}, if the figure stays where it is; {_MOST}: --budget {budget}"
    return Price(words, _more(one), one.seconds, budget)


_MOST: Final = f"a sample has at most {large(MOST_TRIALS)} trials"


def _cost(one: Contest) -> str:
    return f"{about(one.key, _more(one))}, about {lasting(one.seconds)} on this machine"


def _more(one: Contest) -> float:
    """How much more work decides the claim."""
    return sum(sample.amount * (one.times - 1.0) for sample in one.limiting)


def _is_in_reach(one: Contest) -> bool:
    """Whether all that the claim needs fits into memory."""
    most = max(sample.amount for sample in one.limiting)
    return math.isfinite(one.times) and (one.key == DURATION or most * one.times <= MOST_TRIALS)


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
