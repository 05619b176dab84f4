"""Quantities of a point: completion times, speed and residual loss; and the edge of a cliff."""

from __future__ import annotations

from collections.abc import Iterator

from lossylink.reproduce.experiments.cliff.jobs import (
    LINES,
    LOSS_RATES,
    STRESS,
    Line,
    bits,
    expected_loss,
    key,
)
from lossylink.reproduce.framework.judging import CONSISTENCY_CONFIDENCE
from lossylink.reproduce.framework.model import Finished
from lossylink.reproduce.shared.measures import completion_percentile, completion_ratio, residual_loss
from lossylink.statistics.estimates import Estimate

POINT_COUNT = float(len(LINES) * len(LOSS_RATES))
EDGE = 1.5
"""A tail is over the edge where it is longer than so many times that at the least bit error ratio."""


def tail_us(
    finished: Finished, experiment: str, line: Line, loss: float, protection: str, percent: float = 99.9
) -> Estimate:
    """A percentile of the completion times, with its interval."""
    return completion_percentile(finished, (key(experiment, line, loss), protection), percent)


def speed_gbps(finished: Finished, line: Line, loss: float, protection: str) -> float:
    """What a busy link delivers."""
    return finished.number(key(STRESS, line, loss), protection, "effective_link_speed_gbps")


def residual(finished: Finished, line: Line, loss: float, protection: str) -> Estimate:
    """Share of the frames of a busy link that stays lost, with its interval."""
    return residual_loss(finished, key(STRESS, line, loss), protection)


def as_theory_says(finished: Finished) -> Iterator[bool]:
    """Yield for each point whether the losses without protection are as frequent as theory says."""
    for line in LINES:
        for loss in LOSS_RATES:
            found = residual_loss(finished, key(STRESS, line, loss), "none", CONSISTENCY_CONFIDENCE)
            yield found.contains(expected_loss(line, loss))


def points_as_theory_says(finished: Finished) -> float:
    """How many points agree with theory."""
    return float(sum(as_theory_says(finished)))


def bit_errors_between(finished: Finished, code: str, gbps: int) -> float:
    """Bit error ratio of the run of a line with a loss of 1e-3 over that of the run with one of 1e-8."""
    line = Line(code, gbps)
    for loss in (1e-8, 1e-3):
        finished.run(key(STRESS, line, loss))
    return bits(line, 1e-3) / bits(line, 1e-8)


def edge_bits(
    finished: Finished, experiment: str, line: Line, protection: str, percent: float = 99.9
) -> float:
    """Return the greatest bit error ratio of the grid up to which the tail is within `EDGE` times the first.

    Raises
    ------
    NotRunError
        A point is missing.
    """
    first = tail_us(finished, experiment, line, LOSS_RATES[0], protection, percent).value
    kept = LOSS_RATES[0]
    for loss in LOSS_RATES:
        if tail_us(finished, experiment, line, loss, protection, percent).value > EDGE * first:
            break
        kept = loss
    return bits(line, kept)


def tail_growth(
    finished: Finished, experiment: str, code: str, gbps: int, loss: float, protection: str
) -> Estimate:
    """How many times longer a tail is than without protection at the least bit error ratio."""
    line = Line(code, gbps)
    sample, clean = (key(experiment, line, loss), protection), (key(experiment, line, LOSS_RATES[0]), "none")
    return completion_ratio(finished, sample, clean, 99.9)
