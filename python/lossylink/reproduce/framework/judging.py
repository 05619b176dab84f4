"""From a measured interval to an outcome: the rules by which a claim holds, fails or cannot be told.

A claim holds when its figure and the whole interval satisfy it, fails when neither does, and is left open in
between. A published bound such as "15 times" is a rounded figure, so a claim may name a ``slack``: an
interval that crosses the bound by less is no evidence against it.

A claim that fails because the source is wrong names what is true instead, and is refuted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import scipy

from lossylink.reproduce.framework.model import Finished, Judge, Judgement, Need, Outcome, Place
from lossylink.reproduce.framework.quantity import bound_text, count_of, estimated, figure, with_unit
from lossylink.statistics.estimates import Estimate, poisson_interval, zero_events_upper_bound

ROUNDED_BOUND_SLACK = 0.1
"""How far an interval may cross a bound that the publication states as a round number."""

CONSISTENCY_CONFIDENCE = 0.999
"""Of intervals that must hold an expected value: at 95 % one sound claim in twenty would fail by chance."""

MOST_TRIALS = 1e8
"""Trials beyond which a claim counts as undecidable: a thousand times as many as any published run has."""

LEAST_GROWTH = 2.0
"""An interval without an end says no more than that twice the trials may have one."""

Measure = Callable[[Finished], Estimate]


@dataclass(frozen=True)
class Bound:
    """The range of values for which a claim is true."""

    low: float = -math.inf
    high: float = math.inf
    slack: float = 0.0

    def outcome(self, estimate: Estimate) -> Outcome:
        """Judge an estimate against the range."""
        if self.low <= estimate.value <= self.high:
            low, high = self._widened()
            return Outcome.HOLDS if low <= estimate.low and estimate.high <= high else Outcome.UNDECIDED
        meets = estimate.high >= self.low and estimate.low <= self.high
        return Outcome.UNDECIDED if meets else Outcome.FAILS

    def need(self, estimate: Estimate) -> Need:
        """How many times the trials would decide, if the value stays: an interval shrinks as 1 / sqrt(n).

        An end that the sample is too small for waits for its rank first.
        """
        if estimate.lacking > 1.0 or not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
            return Need(max(LEAST_GROWTH, estimate.lacking))
        (low, high), value = self._widened(), estimate.value
        below, above = value - estimate.low, estimate.high - value
        if value < self.low:
            shares = [_over(above, self.low - value)]
        elif value > self.high:
            shares = [_over(below, value - self.high)]
        else:
            shares = [_over(below, value - low), _over(above, high - value)]
        widest = max(1.0, *shares)
        return Need(widest * widest)

    def _widened(self) -> tuple[float, float]:
        """The range that an interval has to lie in: with slack at both ends."""
        low, high = self.low, self.high
        return (
            low - self.slack * abs(low) if math.isfinite(low) else low,
            high + self.slack * abs(high) if math.isfinite(high) else high,
        )

    def text(self, unit: str) -> str:
        """The range in words."""
        low, high = bound_text(self.low), bound_text(self.high)
        if math.isinf(self.high):
            return f"at least {with_unit(low, unit)}"
        if math.isinf(self.low):
            return f"at most {with_unit(high, unit)}"
        if self.low == self.high:
            return f"exactly {with_unit(low, unit)}"
        return f"{low} to {with_unit(high, unit)}"


def _over(width: float, room: float) -> float:
    """How many times too wide one side of an interval is for its room."""
    if not math.isfinite(room) or width == 0.0:
        return 0.0
    return width / room if room > 0.0 else math.inf


@dataclass(frozen=True)
class Edge:
    """A percentile of flows close to the share of flows that are hit: it lies in one kind or the other."""

    place: Place
    """Whose flows."""
    percent: float
    hit_share: float
    """Share of the flows that are hit, from 0 to 1, by theory."""

    def trials(self, *, deviations: float = 2.0) -> float:
        """Flows from which on the percentile lies in one kind of flows, 19 times in 20.

        The number of flows that are hit is binomial; so many of its standard deviations must fit between it
        and the rank of the percentile.
        """
        distance = abs(self.hit_share - (1.0 - self.percent / 100.0))
        if distance == 0.0:
            return math.inf
        return deviations**2 * self.hit_share * (1.0 - self.hit_share) / distance**2

    def need(self, confidence: float) -> Need:
        """What an interval of that confidence, on the one side or on the other, needs at the least."""
        deviations = float(scipy.special.ndtri((1.0 + confidence) / 2.0))
        return Need(trials=self.trials(deviations=max(2.0, deviations)), place=self.place)

    def outcome(self) -> Outcome:
        """Whether more trials would help."""
        return Outcome.UNDECIDED if self.trials() <= MOST_TRIALS else Outcome.UNDECIDABLE

    def text(self) -> str:
        """How many flows it takes, in words."""
        return (
            f"{self.hit_share:.4%} of the flows are hit, so that it takes {figure(self.trials(), digits=2)} "
            f"flows to tell on which side the percentile lies"
        )


def at_least(bound: float, *, slack: float = 0.0) -> Bound:
    """Values from ``bound`` up."""
    return Bound(low=bound, slack=slack)


def at_most(bound: float, *, slack: float = 0.0) -> Bound:
    """Values up to ``bound``."""
    return Bound(high=bound, slack=slack)


def between(low: float, high: float) -> Bound:
    """Values from ``low`` to ``high``."""
    return Bound(low=low, high=high)


def bounded(
    measure: Measure,
    bound: Bound,
    *,
    published: float | None = None,
    unit: str = "",
    digits: int = 3,
    instead: str = "",
    edge: Edge | None = None,
    remark: str = "",
) -> Judge:
    """Judge a measured quantity against the bound that the source states.

    ``instead`` turns "fails" into "refuted": it says what is true in place of the source's statement.
    ``edge`` turns "too few trials" into "undecidable" where no number of trials would tell.
    ``remark`` is a sentence that a reader needs whatever the outcome.
    """

    def judge(finished: Finished) -> Judgement:
        estimate = measure(finished)
        outcome = bound.outcome(estimate)
        more, need = [remark] if remark else [], None
        if outcome is Outcome.FAILS and instead:
            outcome = Outcome.REFUTED
            more.insert(0, instead)
        if outcome is Outcome.UNDECIDED and edge is not None:
            outcome = edge.outcome()
            more.append(edge.text())
            need = edge.need(finished.confidence)
        elif outcome is Outcome.UNDECIDED:
            need = bound.need(estimate)
        parts = (
            [] if published is None else [f"{with_unit(figure(published, digits=digits), unit)} published"]
        )
        parts.append(f"{estimated(estimate, digits=digits, unit=unit)} here")
        parts.append(f"accepted {bound.text(unit)}")
        return Judgement(outcome, "; ".join([", ".join(parts), *more]), estimate, published, need)

    return judge


def consistent(measure: Measure, expected: float, *, digits: int = 3, unit: str = "") -> Judge:
    """Judge whether a measured interval (at `CONSISTENCY_CONFIDENCE`) holds an expected value."""

    def judge(finished: Finished) -> Judgement:
        estimate = measure(finished)
        outcome = Outcome.HOLDS if estimate.contains(expected) else Outcome.FAILS
        reason = (
            f"{with_unit(figure(expected, digits=digits), unit)} expected, "
            f"{estimated(estimate, digits=digits, unit=unit)} here"
        )
        return Judgement(outcome, reason, estimate, None)

    return judge


def rare_events(
    count: Callable[[Finished], tuple[int, int]],
    *,
    expected_rate: float,
    published_exposure: float,
    noun: str,
) -> Judge:
    """Judge a count of rare events against an expected rate, at no less exposure than was published.

    ``count`` gives (events, exposure). Zero events never prove a rate: the reason states the upper bound.
    """

    def judge(finished: Finished) -> Judgement:
        events, exposure = count(finished)
        estimate = poisson_interval(events, exposure)
        upper = zero_events_upper_bound(exposure) if events == 0 else estimate.high
        reason = (
            f"{events} {noun} of {count_of(exposure)} here, a rate of at most {figure(upper)}; "
            f"{figure(expected_rate)} expected, that is {figure(expected_rate * exposure)} {noun}"
        )
        need = None
        if not estimate.contains(expected_rate):
            outcome = Outcome.FAILS
        elif exposure < published_exposure:
            outcome, need = Outcome.UNDECIDED, Need(published_exposure / exposure)
        else:
            outcome = Outcome.HOLDS
        return Judgement(outcome, reason, estimate, None, need)

    return judge


def size(measure: Measure, published: float, *, unit: str, remark: str = "") -> Judge:
    """Judge the size of an experiment: as published, or smaller, which proves nothing either way."""

    def judge(finished: Finished) -> Judgement:
        estimate = measure(finished)
        here = f"{estimated(estimate, unit=unit)} here"
        said = f"{with_unit(bound_text(published), unit)} published, {here}"
        outcome = Outcome.HOLDS if estimate.value >= published else Outcome.UNDECIDED
        reason = f"{said}; {remark}" if remark else said
        return Judgement(outcome, reason, estimate, published)

    return judge
