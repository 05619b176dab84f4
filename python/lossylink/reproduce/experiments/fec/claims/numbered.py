"""A claim under the number of the statement that it tests."""

from __future__ import annotations

import re

from lossylink.reproduce.framework.judging import Measure
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Judge, Judgement, Outcome
from lossylink.reproduce.framework.quantity import bound_text, estimated, with_unit


def statement(
    number: int,
    text: str,
    judge: Judge,
    basis: Basis,
    rests_on: tuple[str, ...] = (),
    *,
    of_published_amount: bool = False,
) -> Claim:
    """The claim that tests a numbered statement of the source."""
    return Claim(text, judge, basis, f"statement {number}", rests_on, of_published_amount)


def question(text: str, judge: Judge, basis: Basis) -> Claim:
    """A claim about what the source leaves open."""
    return Claim(text, judge, basis, "ours, beside the statements")


def numbers(claim: Claim) -> tuple[int, ...]:
    """The statements that a claim tests.

    Examples
    --------
    >>> numbers(statement(9, "", lambda _finished: Judgement(Outcome.HOLDS, ""), Basis.THEORY))
    (9,)
    """
    return tuple(int(number) for number in re.findall(r"\d+", claim.source))


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
