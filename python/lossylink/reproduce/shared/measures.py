"""Quantities that claims, tables and sentences are about, read from finished runs with their intervals."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Place
from lossylink.statistics import CONFIDENCE
from lossylink.statistics.estimates import (
    Estimate,
    binomial_interval,
    clustered_interval,
    mean_interval,
    percentile_interval,
    percentile_ratio,
)

Source: TypeAlias = Place
"""Where a sample comes from."""


def number(finished: Finished, job: str, protection: str, key: str) -> float:
    """A number of a row, as it is: a deterministic simulation has no sampling error of its own to state."""
    return finished.number(job, protection, key)


def trial_mean(finished: Finished, job: str, protection: str, column: str, factor: float = 1.0) -> Estimate:
    """Mean over trials with its interval; a single trial stands as it is."""
    values = finished.column(job, protection, "trials", column) * factor
    return Estimate.exact(float(values[0])) if values.size == 1 else mean_interval(values)


def quotient(above: Estimate, below: Estimate) -> Estimate:
    """One quantity over another, both above zero; the interval is the widest that theirs allow."""
    if below.value == 0:
        raise NotRunError("the quantity to divide by is zero")
    # Student's interval of few trials may reach below zero, which neither quantity can.
    low = max(above.low, 0.0) / below.high if math.isfinite(below.high) else 0.0
    high = above.high / below.low if below.low > 0 else math.inf
    return Estimate(above.value / below.value, low, high)


def completion_times(finished: Finished, source: Source) -> NDArray[np.float64]:
    """Flow completion times in microseconds, one a trial."""
    job, protection = source
    return finished.column(job, protection, "trials", "fct_us")


def completion_percentile(finished: Finished, source: Source, percent: float) -> Estimate:
    """A percentile of the flow completion times, in microseconds.

    The losses of the published runs come alone, and so do flows that run one after another.
    """
    return percentile_interval(completion_times(finished, source), percent, confidence=finished.confidence)


def completion_ratio(finished: Finished, slower: Source, faster: Source, percent: float) -> Estimate:
    """How many times one percentile of the completion times is that of another sample."""
    above, below = (completion_times(finished, source) for source in (slower, faster))
    return percentile_ratio(above, below, percent, confidence=finished.confidence)


def realised_loss(finished: Finished, job: str, protection: str, confidence: float = CONFIDENCE) -> Estimate:
    """Share of frames, copies and dummies among them, that the link lost, with its binomial interval."""
    counted = (finished.number(job, protection, f"frames_{kind}") for kind in ("simulated", "skipped"))
    frames = round(sum(counted))
    rate = finished.number(job, protection, "actual_loss_rate")
    if frames == 0:
        raise NotRunError(f"{job} sent no frames for {protection}")
    return binomial_interval(round(rate * frames), frames, confidence=confidence)


def lost_after_protection(finished: Finished, job: str, protection: str) -> tuple[int, int]:
    """Frames that were sent and never delivered, and frames sent."""
    sent = round(finished.number(job, protection, "packets_sent"))
    rate = finished.number(job, protection, "effective_loss_rate")
    if sent == 0:
        raise NotRunError(f"{job} sent no frames for {protection}")
    return round(rate * sent), sent


def residual_loss(finished: Finished, job: str, protection: str, confidence: float = CONFIDENCE) -> Estimate:
    """Share of frames that stays lost, with an interval that counts how losses of the row came together."""
    events, sent = lost_after_protection(finished, job, protection)
    factor, batches = (
        finished.number(job, protection, f"effective_loss_{key}") for key in ("design_effect", "batches")
    )
    return clustered_interval(
        events, sent, design_effect=factor, batches=round(batches), confidence=confidence
    )
