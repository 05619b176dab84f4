"""The share of lost frames with its interval, as wide as losses that come together make it.

* `by_runs`: a run of losses is a burst. Exact for a chain that loses every frame of its bad state, for
  independent losses as well, and for any number of runs.
* `by_visits`: of a chain that passes frames in its bad state, a visit to that state is a burst.
* `by_batches`: where no model tells what comes together, counts of batches do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from lossylink import _native
from lossylink.measuring.record import Record
from lossylink.statistics.estimates import (
    Estimate,
    binomial_interval,
    clustered_interval,
    zero_events_upper_bound,
)
from lossylink.statistics.intervals import of_bursts
from lossylink.theory.bursts import Chain

#: Parts of a record whose counts are compared, as of a row.
_BATCHES: Final = 64


def by_runs(record: Record) -> Estimate:
    """Return the share of losses whose runs begin and end by chance.

    Examples
    --------
    >>> alone = by_runs(Record.of(([True] + [False] * 99) * 6))
    >>> together = by_runs(Record.of(([True] * 3 + [False] * 297) * 2))
    >>> [f"{one.low:.4f} to {one.high:.4f}" for one in (alone, together)]
    ['0.0037 to 0.0279', '0.0011 to 0.1157']
    """
    return _of_bursts(record, record.runs.size)


def by_visits(record: Record, chain: Chain) -> Estimate:
    """Return the share of losses of a chain: of a visit to the bad state one loss tells of all others.

    Visits have geometric lengths. The variance of their sum says how many losses one has: of m on average it
    is 2 m - 1 times that of independent losses.
    """
    return _of_bursts(record, 2 * record.losses / (1 + max(1.0, chain.dispersion)))


def _of_bursts(record: Record, bursts: float) -> Estimate:
    if not record.losses:
        return none_lost(record.frames)
    low, high = of_bursts(events=record.losses, trials=record.frames, bursts=bursts)
    share = record.losses / record.frames
    return Estimate(share, min(low, share), max(high, share))


def of_record(record: Record) -> Estimate:
    """Return the share of losses of a record as `by_batches` has it of its parts."""
    starts = np.arange(min(_BATCHES, record.frames)) * record.frames // min(_BATCHES, record.frames)
    lost = np.add.reduceat(record.lost.astype(np.int64), starts)
    sizes = np.diff(starts, append=record.frames)
    return by_batches(list(zip(lost.tolist(), sizes.tolist(), strict=True)))


def by_batches(batches: Sequence[tuple[int, int]]) -> Estimate:
    """Return the share of losses of batches of frames, each with its losses and its frames.

    The design effect of the batches widens the exact binomial interval, and Student's law as many of them as
    there are. A single batch tells nothing of how losses come together.

    Examples
    --------
    >>> alike = by_batches([(10, 1000)] * 10)
    >>> apart = by_batches([(100, 1000)] + [(0, 1000)] * 9)
    >>> [f"{one.low:.4f} to {one.high:.4f}" for one in (alike, apart)]
    ['0.0079 to 0.0125', '0.0001 to 0.0669']
    """
    kept = [(lost, sent) for lost, sent in batches if sent]
    lost, sent = sum(one for one, _ in kept), sum(one for _, one in kept)
    if not lost:
        return none_lost(sent)
    factor, known = _native.design_effect(kept)
    return clustered_interval(lost, sent, design_effect=factor, batches=known)


def share_of(events: int, chances: int) -> Estimate:
    """Return the share of independent events; without one the upper end is one-sided."""
    return binomial_interval(events, chances) if events else none_lost(chances)


def none_lost(frames: int) -> Estimate:
    """Return what no loss says: an upper bound, one-sided at 95 %; of no frame it is 1."""
    return Estimate(0.0, 0.0, min(1.0, zero_events_upper_bound(frames)) if frames else 1.0)
