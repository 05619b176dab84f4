"""Quantities that claims are about, read from finished runs together with their intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossylink.reproduce.framework.judging import Measure
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Place
from lossylink.statistics import CONFIDENCE
from lossylink.statistics.estimates import (
    Estimate,
    binomial_interval,
    clustered_interval,
    percentile_interval,
    percentile_ratio,
)

Source: TypeAlias = Place
"""Where a sample comes from."""


def completion_times(finished: Finished, source: Source) -> NDArray[np.float64]:
    """Flow completion times in microseconds, one a trial."""
    job, protection = source
    return finished.column(job, protection, "trials", "fct_us")


def completion_percentile(source: Source, percent: float) -> Measure:
    """A percentile of the flow completion times, in microseconds.

    The losses of the published runs come alone, and so do flows that run one after another.
    """
    return lambda finished: percentile_interval(
        completion_times(finished, source), percent, confidence=finished.confidence
    )


def completion_ratio(slower: Source, faster: Source, percent: float) -> Measure:
    """How many times one percentile of the completion times is that of another sample."""

    def measure(finished: Finished) -> Estimate:
        above, below = (completion_times(finished, source) for source in (slower, faster))
        return percentile_ratio(above, below, percent, confidence=finished.confidence)

    return measure


def exact(job: str, protection: str, key: str) -> Measure:
    """A number of a row, as it is: a deterministic simulation has no sampling error of its own to state."""
    return lambda finished: Estimate.exact(finished.number(job, protection, key))


def derived(compute: Callable[[Finished], float]) -> Measure:
    """A number computed from several rows."""
    return lambda finished: Estimate.exact(compute(finished))


def realised_loss(job: str, protection: str, *, confidence: float = CONFIDENCE) -> Measure:
    """Share of frames, copies and dummies among them, that the link lost, with its binomial interval."""

    def measure(finished: Finished) -> Estimate:
        counted = (finished.number(job, protection, f"frames_{kind}") for kind in ("simulated", "skipped"))
        frames = round(sum(counted))
        rate = finished.number(job, protection, "actual_loss_rate")
        if frames == 0:
            raise NotRunError(f"{job} sent no frames for {protection}")
        return binomial_interval(round(rate * frames), frames, confidence=confidence)

    return measure


def lost_after_protection(job: str, protection: str) -> Callable[[Finished], tuple[int, int]]:
    """Frames that were sent and never delivered, and frames sent."""

    def count(finished: Finished) -> tuple[int, int]:
        sent = round(finished.number(job, protection, "packets_sent"))
        rate = finished.number(job, protection, "effective_loss_rate")
        if sent == 0:
            raise NotRunError(f"{job} sent no frames for {protection}")
        return round(rate * sent), sent

    return count


def residual_loss(job: str, protection: str, *, confidence: float = CONFIDENCE) -> Measure:
    """Share of frames that stays lost, with an interval that counts how losses of the row came together."""

    def measure(finished: Finished) -> Estimate:
        events, sent = lost_after_protection(job, protection)(finished)
        factor, batches = (
            finished.number(job, protection, f"effective_loss_{key}") for key in ("design_effect", "batches")
        )
        return clustered_interval(
            events, sent, design_effect=factor, batches=round(batches), confidence=confidence
        )

    return measure
