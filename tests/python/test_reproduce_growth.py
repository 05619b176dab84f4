"""Which sample grows next, when it ends, and what is said of it: a made-up clock and made-up costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from lossylink.errors import RunError
from lossylink.reproduce.framework.judging import Bound, Edge, at_least, bounded
from lossylink.reproduce.framework.model import (
    Basis,
    Claim,
    Finished,
    Job,
    Outcome,
    Place,
    Price,
    judge,
)
from lossylink.reproduce.framework.runner import Report
from lossylink.reproduce.growth.contest import CONFIDENCE_AGAIN, Contest, contests
from lossylink.reproduce.growth.growing import grow
from lossylink.reproduce.growth.pricing import prices
from lossylink.reproduce.growth.samples import MOST_TRIALS, Sample
from lossylink.reproduce.growth.work import Carried
from lossylink.running.run import Run
from lossylink.statistics import CONFIDENCE
from lossylink.statistics.estimates import Estimate

from .synthetic import run_of

JOB = "made-up"
PUBLISHED = 1000


class Clock:
    """A clock that only made-up work moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def run_with(protection: str, trials: int) -> Run:
    return run_of("tcp-fct", [{"protection": protection, "trials": trials}])


@dataclass
class MadeUpWork:
    """Work whose trials cost what a test says, each time those that are missing."""

    clock: Clock
    protection: str
    seconds_a_trial: float
    log: list[tuple[str, int]] = field(default_factory=list)
    stop_at: int = 0
    fail_at: int = 0
    kept_amount: int = 0
    done: int = 0

    @property
    def identity(self) -> str:
        return self.protection

    @property
    def published(self) -> int:
        return PUBLISHED

    def kept(self, report: Report) -> Carried | None:
        self.done = self.kept_amount
        return self._carried(self.kept_amount) if self.kept_amount else None

    def missing(self, amount: float) -> float:
        return amount - self.done

    def carry_out(self, amount: int, report: Report) -> Carried:
        if self.stop_at and amount >= self.stop_at:
            raise KeyboardInterrupt
        if amount == self.fail_at:
            raise RunError("no room")
        self.clock.now += self.seconds_a_trial * self.missing(amount)
        self.log.append((self.protection, amount))
        self.done = amount
        return self._carried(amount)

    def _carried(self, amount: int) -> Carried:
        return Carried(run_with(self.protection, amount), amount, self.seconds_a_trial * amount)


def trials_of(finished: Finished, *protections: str) -> list[float]:
    return [finished.number(JOB, protection, "trials") for protection in protections]


def claim_of(
    protections: Sequence[str],
    value: float,
    bound: Bound,
    *,
    width: float,
    edge: Edge | None = None,
    of_published_amount: bool = False,
    text: str = "",
) -> Claim:
    """A claim whose figure is known to ``width`` at the published amount, and better with more trials."""

    def measure(finished: Finished) -> Estimate:
        share = sum(PUBLISHED / trials for trials in trials_of(finished, *protections)) / len(protections)
        half = width * math.sqrt(share)
        return Estimate(value, value - half, value + half)

    return Claim(
        text or f"{'+'.join(protections)}, {value}",
        bounded(measure, bound, edge=edge),
        Basis.PREDICTION,
        "made up",
        of_published_amount=of_published_amount,
    )


@dataclass
class Stage:
    """Samples of several protections, and claims about them."""

    clock: Clock
    works: Mapping[str, MadeUpWork]
    samples: dict[Place, Sample]
    contested: list[Contest]
    log: list[tuple[str, int]]

    def grow(self, deadline: float) -> bool:
        return grow(self.contested, clock=self.clock, deadline=deadline, report=lambda _done, _total: None)

    @property
    def outcomes(self) -> list[Outcome]:
        return [one.judgement.outcome for one in self.contested]


def staged(
    costs: Mapping[str, float], claims: Sequence[Claim], change: Callable[[MadeUpWork], None] | None = None
) -> Stage:
    clock, log = Clock(), list[tuple[str, int]]()
    works = {name: MadeUpWork(clock, name, cost, log) for name, cost in costs.items()}
    for work in works.values():
        if change is not None:
            change(work)
    job = Job(JOB, "tcp-fct", tuple(costs), {"flow.trials": PUBLISHED}, grows="flow.trials")
    samples = {
        (JOB, name): Sample(job, name, work, seconds=PUBLISHED * work.seconds_a_trial)
        for name, work in works.items()
    }
    rows = [{"protection": name, "trials": PUBLISHED} for name in costs]
    finished = Finished({JOB: run_of("tcp-fct", rows)})
    verdicts = [judge(claim, finished) for claim in claims]
    return Stage(clock, works, samples, list(contests(finished, verdicts, samples, clock).values()), log)


OPEN = at_least(10.0)
"""A figure of 12 that is known to 4 needs four times the trials to hold."""


def test_a_claim_grows_until_it_is_decided_and_no_further() -> None:
    stage = staged({"lg": 1e-3}, [claim_of(["lg"], 12.0, OPEN, width=4.0)])
    assert stage.outcomes == [Outcome.UNDECIDED]
    assert not stage.grow(deadline=1e6)
    assert stage.outcomes == [Outcome.HOLDS]
    assert stage.log == [("lg", 2000), ("lg", 4000)]


def test_the_claim_that_is_cheapest_to_decide_goes_first() -> None:
    claims = [
        claim_of(["dear"], 12.0, OPEN, width=4.0),
        claim_of(["cheap"], 12.0, OPEN, width=4.0),
        claim_of(["far"], 12.0, OPEN, width=40.0),
    ]
    stage = staged({"dear": 1.0, "cheap": 1e-3, "far": 1e-3}, claims)
    stage.grow(deadline=1e9)
    assert list(dict.fromkeys(name for name, _ in stage.log)) == ["cheap", "far", "dear"]
    assert stage.outcomes == [Outcome.HOLDS] * 3


def test_a_look_that_does_not_fit_is_left_and_a_cheaper_one_is_taken() -> None:
    claims = [claim_of(["lg"], 12.0, OPEN, width=4.0), claim_of(["none"], 12.0, OPEN, width=400.0)]
    stage = staged({"lg": 1.0, "none": 1e-3}, claims)
    stage.grow(deadline=1500.0)
    assert stage.outcomes == [Outcome.UNDECIDED, Outcome.UNDECIDED]
    assert {name for name, _ in stage.log} == {"none"}
    assert stage.clock.now <= 1500.0


def test_a_leap_is_half_of_the_way_and_no_longer_than_there_is_time_for() -> None:
    # 64 times the trials would decide: 8 of them are half of the way, then 8 more are asked for.
    stage = staged({"lg": 1e-3}, [claim_of(["lg"], 12.0, OPEN, width=16.0)])
    stage.grow(deadline=1e6)
    assert [amount for _, amount in stage.log] == [8000, 16_000, 32_000, 64_000]
    assert stage.outcomes == [Outcome.HOLDS]
    stage = staged({"lg": 1e-3}, [claim_of(["lg"], 12.0, OPEN, width=16.0)])
    stage.grow(deadline=4.5)
    assert [amount for _, amount in stage.log] == [2000, 4000]


def test_two_samples_of_a_claim_get_about_as_much_time() -> None:
    stage = staged({"none": 1e-3, "lg": 8e-3}, [claim_of(["none", "lg"], 12.0, OPEN, width=20.0)])
    stage.grow(deadline=1e6)
    assert stage.outcomes == [Outcome.HOLDS]
    none, lg = (stage.samples[(JOB, name)].amount for name in ("none", "lg"))
    assert 2 * lg <= none <= 32 * lg


def test_an_edge_asks_its_own_sample_for_the_trials_of_theory_at_once() -> None:
    edge = Edge((JOB, "none"), 99.9, 1.1e-3)
    claim = claim_of(["none", "lg"], 12.0, OPEN, width=4.0, edge=edge)
    stage = staged({"none": 1e-3, "lg": 1e-6}, [claim])
    stage.grow(deadline=1e6)
    # 440,000 flows by theory at two deviations, 2.8 of them at this confidence; as many as look closest.
    amounts = [amount for name, amount in stage.log if name == "none"]
    assert amounts[0] == PUBLISHED * 2 ** math.ceil(math.log2(edge.need(CONFIDENCE_AGAIN).trials / PUBLISHED))
    assert stage.log[0][0] == "none"


def test_more_work_for_one_claim_may_open_another_which_then_grows_too() -> None:
    """The second claim holds at the published amount; more trials move its figure out of the bound."""

    def moved(finished: Finished) -> Estimate:
        (trials,) = trials_of(finished, "lg")
        value, half = (10.5, 0.4) if trials == PUBLISHED else (9.5, 80.0 / math.sqrt(trials))
        return Estimate(value, value - half, value + half)

    other = Claim("moved", bounded(moved, OPEN), Basis.PREDICTION, "made up")
    stage = staged({"lg": 1e-3}, [claim_of(["lg"], 12.0, OPEN, width=4.0), other])
    assert stage.outcomes == [Outcome.UNDECIDED, Outcome.HOLDS]
    stage.grow(deadline=1e6)
    assert stage.outcomes == [Outcome.HOLDS, Outcome.FAILS]
    assert stage.contested[1].before.judgement.outcome is Outcome.HOLDS


def test_a_published_verdict_stands_while_its_own_confidence_finds_it_again() -> None:
    def at_both(finished: Finished) -> Estimate:
        half = 1.9 if finished.confidence < CONFIDENCE_AGAIN else 2.7
        return Estimate(12.0, 12.0 - half, 12.0 + half)

    def reading(finished: Finished) -> Estimate:
        trials_of(finished, "lg")
        return at_both(finished)

    stands = Claim("stands", bounded(reading, OPEN), Basis.PREDICTION, "made up")
    stage = staged({"lg": 1e-3}, [stands, claim_of(["lg"], 12.0, OPEN, width=4.0)])
    stage.grow(deadline=1e6)
    assert stage.outcomes == [Outcome.HOLDS, Outcome.HOLDS]
    assert [one.confidence for one in stage.contested] == [0.95, CONFIDENCE_AGAIN]


@pytest.mark.parametrize(
    ("confidence", "most", "least"), [(CONFIDENCE_AGAIN, 0.012, 0.0), (CONFIDENCE, 0.12, 0.06)]
)
def test_ten_looks_again_are_wrong_less_often_than_one_at_95_percent(
    confidence: float, most: float, least: float
) -> None:
    """A figure a fiftieth of a standard error above its bound, looked at with twice the trials each time.

    At 95 %, the canary, looking again is wrong more often than the first look, at 2.5 %.
    """
    draws, calls = np.random.default_rng(7), 40_000
    total, trials = draws.normal(0.02, 1.0, calls), 1
    is_open = np.abs(total) < ndtri((1 + CONFIDENCE) / 2)
    wrong = np.zeros(calls, dtype=bool)
    for _ in range(10):
        total += draws.normal(0.02 * trials, math.sqrt(trials), calls)
        trials *= 2
        decided = is_open & (np.abs(total) >= ndtri((1 + confidence) / 2) * math.sqrt(trials))
        wrong |= decided & (total < 0)
        is_open &= ~decided
    assert least <= wrong.mean() <= most


def test_a_claim_about_the_published_amount_is_not_judged_by_more() -> None:
    about_it = claim_of(["lg"], 12.0, OPEN, width=4.0, of_published_amount=True, text="the least of 1000")
    stage = staged({"lg": 1e-3}, [about_it, claim_of(["lg"], 12.0, OPEN, width=4.0)])
    assert [one.claim.text for one in stage.contested] == ["lg, 12.0"]
    stage = staged({"lg": 1e-3}, [about_it])
    assert not stage.grow(deadline=1e6)
    assert stage.log == []


def test_ctrl_c_keeps_the_looks_before_it() -> None:
    def stopped(work: MadeUpWork) -> None:
        work.stop_at = 8000

    claims = [claim_of(["lg"], 12.0, OPEN, width=4.0), claim_of(["lg"], 11.0, OPEN, width=9.0)]
    stage = staged({"lg": 1e-3}, claims, stopped)
    assert stage.grow(deadline=1e6)
    assert stage.outcomes == [Outcome.HOLDS, Outcome.UNDECIDED]
    assert stage.samples[(JOB, "lg")].amount == 4000


def test_a_failure_ends_the_growth_of_its_sample_alone_and_is_said() -> None:
    def failing(work: MadeUpWork) -> None:
        work.fail_at = 2000 if work.protection == "lg" else 0

    claims = [claim_of(["lg"], 12.0, OPEN, width=4.0), claim_of(["none"], 12.0, OPEN, width=4.0)]
    stage = staged({"lg": 1e-3, "none": 1e-2}, claims, failing)
    assert not stage.grow(deadline=1e6)
    assert stage.outcomes == [Outcome.UNDECIDED, Outcome.HOLDS]
    price = prices(stage.contested, spent_seconds=0.0)[0]
    assert price == Price("more of it failed: no room")


def test_a_sample_that_resumes_is_not_run_again() -> None:
    def kept(work: MadeUpWork) -> None:
        work.kept_amount = 2000

    stage = staged({"lg": 1e-3}, [claim_of(["lg"], 12.0, OPEN, width=4.0)], kept)
    stage.samples[(JOB, "lg")].resume(lambda _done, _total: None)
    stage.grow(deadline=1e6)
    assert stage.log == [("lg", 4000)]
    assert stage.clock.now == pytest.approx(2.0)
    assert stage.outcomes == [Outcome.HOLDS]


costs = st.floats(min_value=1e-6, max_value=1.0)
widths = st.floats(min_value=0.1, max_value=50.0)


@given(st.lists(st.tuples(costs, widths), min_size=1, max_size=5), st.floats(min_value=0.0, max_value=1e4))
def test_no_call_spends_more_than_its_budget(drawn: list[tuple[float, float]], deadline: float) -> None:
    names = [f"p{place}" for place in range(len(drawn))]
    claims = [
        claim_of([name], 12.0, OPEN, width=width) for name, (_, width) in zip(names, drawn, strict=True)
    ]
    stage = staged({name: cost for name, (cost, _) in zip(names, drawn, strict=True)}, claims)
    stage.grow(deadline)
    assert stage.clock.now <= deadline * (1 + 1e-9)
    # Amounts are the published one times powers of two, each looked at once, in their order.
    for name in names:
        amounts = [amount for one, amount in stage.log if one == name]
        assert amounts == sorted(set(amounts))
        assert all(math.log2(amount / PUBLISHED).is_integer() for amount in amounts)
    # Whatever is open has no next look that fits.
    for one in stage.contested:
        for step in one.steps if one.is_open else ():
            assert stage.clock.now + step.sample.seconds_to(step.amount) > deadline * (1 - 1e-9)


@given(st.lists(st.tuples(costs, widths), min_size=1, max_size=4), st.floats(min_value=1.0, max_value=1e3))
def test_a_larger_budget_decides_no_less(drawn: list[tuple[float, float]], deadline: float) -> None:
    def decided(budget: float) -> set[str]:
        costs_by = {f"p{place}": cost for place, (cost, _) in enumerate(drawn)}
        claims = [claim_of([f"p{place}"], 12.0, OPEN, width=width) for place, (_, width) in enumerate(drawn)]
        stage = staged(costs_by, claims)
        stage.grow(budget)
        return {one.claim.text for one in stage.contested if one.judgement.outcome is Outcome.HOLDS}

    assert len(decided(deadline)) <= len(decided(100 * deadline))


def test_the_price_of_an_open_claim_has_its_trials_its_time_and_a_budget() -> None:
    claims = [claim_of(["lg"], 12.0, OPEN, width=4.0), claim_of(["none"], 12.0, OPEN, width=40.0)]
    stage = staged({"lg": 0.1, "none": 5e-4}, claims)
    dear, cheap = prices(stage.contested, spent_seconds=100.0)
    assert dear is not None
    assert cheap is not None
    # 400 times the trials of none at 0.5 ms each, and then 4 times those of lg at 100 ms.
    assert cheap.text == "about 400,000 more trials, about 3 min on this machine: --budget 7m"
    assert cheap.amount == pytest.approx(399_000)
    assert cheap.seconds == pytest.approx(200.0)
    assert dear.text == "about 3,000 more trials, about 7 min on this machine: --budget 15m"


def test_a_decided_claim_has_no_price_and_one_on_its_bound_no_figure() -> None:
    claims = [claim_of(["lg"], 12.0, OPEN, width=1.0), claim_of(["lg"], 10.0, OPEN, width=1.0)]
    stage = staged({"lg": 1e-3}, claims)
    decided, on_it = prices(stage.contested, spent_seconds=0.0)
    assert decided is None
    assert on_it is not None
    # 67 million trials at a millisecond each.
    words = "the figure lies on its bound; a sample has at most 67 million trials: --budget 19h"
    assert on_it == Price(words, budget="19h")


def test_what_does_not_fit_into_memory_says_so_and_names_no_budget() -> None:
    stage = staged({"lg": 1e-6}, [claim_of(["lg"], 10.001, OPEN, width=4.0)])
    stage.grow(deadline=1e9)
    assert MOST_TRIALS / 2 < stage.samples[(JOB, "lg")].amount <= MOST_TRIALS
    (price,) = prices(stage.contested, spent_seconds=0.0)
    assert price is not None
    assert price.budget == ""
    assert price.seconds == pytest.approx(16_000, rel=0.01)
    assert price.text.endswith("4.4 h on this machine; a sample has at most 67 million trials")


def test_a_figure_that_may_move_names_the_budget_for_all_that_there_is_room_for() -> None:
    stage = staged({"lg": 1e-6}, [claim_of(["lg"], 10.001, OPEN, width=4.0)])
    (price,) = prices(stage.contested, spent_seconds=0.0)
    assert price is not None
    assert price.text.endswith(
        "if the figure stays where it is; a sample has at most 67 million trials: --budget 2m"
    )
    assert price.budget == "2m"
