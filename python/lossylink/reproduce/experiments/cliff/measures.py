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
from lossylink.reproduce.shared.measures import completion_percentile, residual_loss
from lossylink.statistics.estimates import Estimate

EDGE = 1.5
"""A tail is over the edge where it is longer than so many times that at the least bit error ratio."""


def tail_us(
    finished: Finished, experiment: str, line: Line, loss: float, protection: str, percent: float = 99.9
) -> Estimate:
    """A percentile of the completion times, with its interval."""
    return completion_percentile((key(experiment, line, loss), protection), percent)(finished)


def speed_gbps(finished: Finished, line: Line, loss: float, protection: str) -> float:
    """What a busy link delivers."""
    return finished.number(key(STRESS, line, loss), protection, "effective_link_speed_gbps")


def residual(finished: Finished, line: Line, loss: float, protection: str) -> Estimate:
    """Share of the frames of a busy link that stays lost, with its interval."""
    return residual_loss(key(STRESS, line, loss), protection)(finished)


def as_theory_says(finished: Finished) -> Iterator[bool]:
    """Yield for each point whether the losses without protection are as frequent as theory says."""
    for line in LINES:
        for loss in LOSS_RATES:
            measure = residual_loss(key(STRESS, line, loss), "none", confidence=CONSISTENCY_CONFIDENCE)
            yield measure(finished).contains(expected_loss(line, loss))


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
