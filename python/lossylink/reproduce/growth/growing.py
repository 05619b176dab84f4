"""Decides which sample grows next: the claim that is cheapest to decide goes first.

The published amount of work is done before. A claim that it leaves open gets more work of the samples that
the claim reads, each time at least twice as much, until the claim is decided or the next look does not fit
into the time that is left. What a look costs is measured in this very call; how many looks a claim needs
follows from the width of its interval.

Looking again and again would find a wrong verdict in the end. Claims that the published amount leaves open
are therefore judged at 99.5 % in place of 95 %: ten looks together are wrong as rarely as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lossylink.reproduce.framework.runner import Report
from lossylink.reproduce.growth.contest import Contest, Step
from lossylink.reproduce.growth.samples import Clock


def grow(every: Sequence[Contest], *, clock: Clock, deadline: float, report: Report) -> bool:
    """Let samples grow until every claim is decided or time is up; returns whether Ctrl-C came.

    Claims that are open are judged after every look, the others at the end: more work for one claim may
    change the verdict of another one, and open it again.
    """
    try:
        while True:
            step = _next(every, room=deadline - clock())
            if step is not None:
                step.sample.grow(step.amount, report, clock)
                _look(one for one in every if one.is_open)
            elif not _look(every):
                return False
    except KeyboardInterrupt:
        _look(every)
        return True


def _look(some: Iterable[Contest]) -> bool:
    """Judge what has more work than at the last look; returns whether there was any."""
    stale = [one for one in some if one.is_stale]
    for one in stale:
        one.look()
    return bool(stale)


def _next(every: Sequence[Contest], *, room: float) -> Step | None:
    """What to do next: for the claim that is cheapest to decide, of those for which there is room."""
    still_open = sorted((one for one in every if one.is_open), key=lambda one: one.seconds)
    steps = dict.fromkeys(step for one in still_open for step in one.steps)
    return next((step for step in steps if _seconds(step, every) <= room), None)


def _seconds(step: Step, every: Sequence[Contest]) -> float:
    """What a step costs, with the judging of all claims that wait for its sample or for another one."""
    sample, more = step.sample, step.amount - step.sample.amount
    found = sample.seconds_to(step.amount)
    for one in every:
        if sample in one.samples.values():
            found += one.look_seconds(more)
        elif one.is_stale:
            found += one.look_seconds(0)
    return found
