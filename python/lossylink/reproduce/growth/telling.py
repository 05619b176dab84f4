"""What a reproduction says of its time: the budget, the published amounts, more work, and what stays open."""

from __future__ import annotations

from lossylink.reproduce.framework.model import Grown, Outcome
from lossylink.reproduce.framework.quantity import duration
from lossylink.reproduce.framework.result import ReproduceResult
from lossylink.reproduce.growth.amounts import said


def told(result: ReproduceResult) -> tuple[str, ...]:
    """How the time was spent, a sentence each; nothing where the call was interrupted before."""
    growth = result.growth
    if growth is None:
        return ()
    first = f"The published amounts of work took {duration(growth.published_seconds)}"
    if growth.budget_seconds == 0:
        return (f"{first}; no budget was given for more. Every verdict depends on the seed alone.",)
    changed, left = len(result.changed), result.counts[Outcome.UNDECIDED]
    return (
        f"{first}, more work for open claims {duration(growth.grown_seconds)}, of a budget of "
        f"{duration(growth.budget_seconds)}: {places(result.grown)}.",
        f"It changed {changed} {'verdict' if changed == 1 else 'verdicts'}; {left} "
        f"{'claim stays' if left == 1 else 'claims stay'} open. How much work a claim gets depends on the "
        "clock; what that amount gives depends on the seed alone.",
    )


def places(grown: tuple[Grown, ...]) -> str:
    """How many samples grew, and the largest of them."""
    if not grown:
        return "no sample grew"
    trials = max(grown, key=lambda one: one.amount / one.published)
    most = f"at the most {said(trials.key, trials.published)} became {said(trials.key, trials.amount)}"
    return f"{len(grown)} {'sample' if len(grown) == 1 else 'samples'} grew, {most}"


def grown_line(one: Grown) -> str:
    """A sample that grew, in one line.

    Examples
    --------
    >>> grown_line(Grown("loss 1e-3", "lg", "flow.trials", 5000, 640_000, 1.25, "lossylink run ..."))
    'loss 1e-3, lg: 5,000 trials became 640,000 trials in 1.2 s'
    """
    before, after = said(one.key, one.published), said(one.key, one.amount)
    return f"{one.job}, {one.protection}: {before} became {after} in {duration(one.seconds)}"
