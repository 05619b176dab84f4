"""A claim that may be judged by more than the published amount of work: what it has, needs and costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lossylink.reproduce.framework.model import (
    Claim,
    Finished,
    Judgement,
    Outcome,
    Place,
    Verdict,
    Watched,
    judge,
)
from lossylink.reproduce.growth.samples import Clock, Sample
from lossylink.reproduce.growth.work import FACTOR

CONFIDENCE_AGAIN: Final = 0.995
"""Two-sided confidence of the interval of a claim that the published amount of work does not decide."""

LONGEST_LEAP: Final = 8.0
"""An interval of few trials says little of how many more it takes."""


@dataclass(frozen=True)
class Step:
    """A sample, and the amount of work at which to look at it next."""

    sample: Sample
    amount: int


class Contest:
    """A claim, the samples that it reads, and what they say of it so far.

    Parameters
    ----------
    before
        The verdict of the published amount.
    finished
        The published runs of its experiment.
    samples
        Those that the claim reads and that can grow; one at least.
    """

    def __init__(
        self, before: Verdict, finished: Finished, samples: Mapping[Place, Sample], clock: Clock
    ) -> None:
        self.before = before
        self.samples = samples
        self._finished = finished
        self._clock = clock
        self.look()

    @property
    def claim(self) -> Claim:
        """The claim."""
        return self.before.claim

    @property
    def key(self) -> str:
        """The setting that its samples raise, which is one for all of an experiment."""
        return next(iter(self.samples.values())).job.grows

    def look(self) -> None:
        """Judge the claim by all that the samples have.

        A verdict of the published amount stands while the confidence that it was found with finds it again.
        """
        grown = {place: sample.run for place, sample in self.samples.items() if sample.run is not None}
        started = self._clock()
        self.confidence, self._latest = self._judged(Finished(self._finished.runs, grown))
        self._unit_seconds = (self._clock() - started) / self._work
        self._seen = self._amounts
        self.has_grown = bool(grown)
        """Whether its verdict rests on more than the published amount."""

    def _judged(self, finished: Finished) -> tuple[float, Judgement]:
        first = self.before.judgement.outcome
        if first not in {Outcome.UNDECIDED, Outcome.UNDECIDABLE}:
            judgement = judge(self.claim, finished).judgement
            if judgement.outcome is first:
                return finished.confidence, judgement
        again = replace(finished, confidence=CONFIDENCE_AGAIN)
        return CONFIDENCE_AGAIN, judge(self.claim, again).judgement

    @property
    def is_stale(self) -> bool:
        """Whether a sample has grown since it was judged."""
        return self._seen != self._amounts

    def look_seconds(self, more: int) -> float:
        """What it costs to judge it with so much more work than there is."""
        return self._unit_seconds * (self._work + more)

    @property
    def judgement(self) -> Judgement:
        """The last one; the published one where there was nothing more."""
        return self._latest if self.has_grown else self.before.judgement

    @property
    def is_open(self) -> bool:
        """Whether more work may decide it."""
        return self.judgement.outcome is Outcome.UNDECIDED and self._latest.need is not None

    @property
    def limiting(self) -> Sequence[Sample]:
        """The samples that decide it: all that it reads, or the one at whose edge its figure lies."""
        need = self._latest.need
        place = None if need is None else need.place
        if place is None or place not in self.samples:
            return tuple(self.samples.values())
        return (self.samples[place],)

    @property
    def times(self) -> float:
        """How many times the work of those would decide it; infinite where nobody can say.

        A sample that has as many trials as theory asks for had bad luck, and grows once more.
        """
        need = self._latest.need
        if need is None:
            return 1.0
        return need.times if not need.trials else max(float(FACTOR), need.trials / self.limiting[0].amount)

    @property
    def may_move(self) -> bool:
        """Whether more work may move the figure away from its bound: no theory says how much it needs."""
        need = self._latest.need
        return need is not None and not need.trials and bool(self.steps)

    @property
    def seconds(self) -> float:
        """What it costs to decide it, about."""
        growth = sum((sample.seconds_to(sample.amount * self.times) for sample in self.limiting), 0.0)
        return growth + self.times * self.look_seconds(0)

    @property
    def steps(self) -> tuple[Step, ...]:
        """What to do for it next, what is to be preferred first: a leap, or else twice the work.

        Samples are looked at with the published amount times powers of two. A leap is as long as theory asks,
        or half of the way that an interval asks for, on a scale of powers.
        """
        need = self._latest.need
        if need is not None and need.trials:
            return self._cheapest(lambda sample: _power(need.trials / sample.amount, math.ceil))
        leap = _power(min(math.sqrt(self.times), LONGEST_LEAP), math.floor)
        return tuple(dict.fromkeys((*self._cheapest(lambda _: leap), *self._cheapest(lambda _: FACTOR))))

    def _cheapest(self, factor: Callable[[Sample], int]) -> tuple[Step, ...]:
        """The step of that sample whose step costs least, so that all samples get about as much time."""
        every = [Step(sample, factor(sample) * sample.amount) for sample in self.limiting]
        able = [step for step in every if step.sample.can_reach(step.amount)]
        return tuple(sorted(able, key=lambda step: step.sample.seconds_to(step.amount))[:1])

    @property
    def _amounts(self) -> tuple[int, ...]:
        return tuple(sample.amount for sample in self.samples.values())

    @property
    def _work(self) -> int:
        return sum(self._amounts)


def _power(times: float, rounded: Callable[[float], int]) -> int:
    """The power of `FACTOR` near so many times; `FACTOR` itself at the least."""
    return int(FACTOR ** max(1, rounded(math.log(times, FACTOR)))) if times > 1.0 else FACTOR


def contests(
    finished: Finished, verdicts: Sequence[Verdict], samples: Mapping[Place, Sample], clock: Clock
) -> dict[str, Contest]:
    """The claims, by their words, that may be judged by samples that grow.

    Which places a claim reads, its judge tells by reading them.
    """
    found = {}
    for verdict in verdicts:
        if verdict.claim.of_published_amount:
            continue
        watched = Watched(finished.runs)
        judge(verdict.claim, watched)
        read = {place: samples[place] for place in sorted(watched.read) if place in samples}
        if read:
            found[verdict.claim.text] = Contest(verdict, finished, read, clock)
    return found
