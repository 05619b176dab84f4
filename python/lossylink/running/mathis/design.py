"""Which trials the study consists of: every MSS with every RTT, each with its own loss ratios.

The source draws 60 loss ratios uniformly in log(p), four for each of 3 x 5 pairs, and sets "3 ms" of delay
on each side of its router, so that its 3 ms runs have a round trip of 6. Here an RTT is the whole of it.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

PICOSECONDS_PER_MILLISECOND = 10**9
PICOSECONDS_PER_SECOND = 10**12

MSS_BYTES = (536, 1460, 4312)
"""Segment sizes of Mathis et al.: the default of RFC 879, Ethernet's and FDDI's."""

RTT_MS = (3.0, 77.25, 151.5, 225.75, 300.0)
"""Round trips of the study: five between 3 and 300 ms, evenly spaced."""

LOSS_RATIO_MIN, LOSS_RATIO_MAX = 3e-5, 0.3
"""Range of loss ratios in figure 3 of Mathis et al."""

_SEED_BYTES = 6
"""Of a trial's seed: fits a float64 and so any table or JSON reader."""


class Design(BaseModel):
    """The grid of a study; frozen, checked, and with the seed all that its trials depend on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mss_bytes: tuple[int, ...] = Field(MSS_BYTES, min_length=1)
    rtt_ps: tuple[int, ...] = Field(
        tuple(round(rtt * PICOSECONDS_PER_MILLISECOND) for rtt in RTT_MS), min_length=1
    )
    loss_ratios: tuple[float, ...] | None = None
    """Loss ratios for every pair, or `None` to draw `loss_count` of them for each pair."""
    loss_min: float = LOSS_RATIO_MIN
    loss_max: float = LOSS_RATIO_MAX
    loss_count: int = Field(4, ge=1)
    loss_events: int = Field(100, ge=1)
    """Loss events that a trial must expect, which sets its length."""

    @field_validator("mss_bytes")
    @classmethod
    def _segments_carry_something(cls, sizes: tuple[int, ...]) -> tuple[int, ...]:
        for size in sizes:
            if size < 1:
                raise ValueError(f"an MSS of {size} B carries nothing; use at least 1 B, for instance 1460")
        return sizes

    @field_validator("rtt_ps")
    @classmethod
    def _round_trips_take_time(cls, times: tuple[int, ...]) -> tuple[int, ...]:
        for time in times:
            if time <= 0:
                raise ValueError(f"an RTT of {time} ps allows infinite bandwidth; use one such as 6ms")
        return times

    @field_validator("loss_ratios")
    @classmethod
    def _ratios_are_ratios(cls, ratios: tuple[float, ...] | None) -> tuple[float, ...] | None:
        for ratio in ratios or ():
            check_loss_ratio(ratio)
        return ratios

    @model_validator(mode="after")
    def _range_is_a_range(self) -> Design:
        check_loss_ratio(self.loss_min)
        check_loss_ratio(self.loss_max)
        if self.loss_min > self.loss_max:
            raise ValueError(f"loss_min {self.loss_min:g} is above loss_max {self.loss_max:g}: swap them")
        return self


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One flow to measure: what is asked for, whatever the set-up then makes of it."""

    index: int
    mss_bytes: int
    rtt_ps: int
    loss_ratio: float
    seed: int

    @property
    def rtt_s(self) -> float:
        """The whole round trip in seconds."""
        return self.rtt_ps / PICOSECONDS_PER_SECOND


def check_loss_ratio(ratio: float) -> None:
    """Refuse what is no loss ratio of a working link, spelling out both readings of a bare percentage.

    Examples
    --------
    >>> check_loss_ratio(15.66)
    Traceback (most recent call last):
    ValueError: loss = 15.66: 15.66 % or a ratio? Write '15.66%' (a ratio of 0.1566) or a ratio below 1
    """
    if 0 < ratio < 1:
        return
    if 1 < ratio <= 100:
        raise ValueError(
            f"loss = {ratio:g}: {ratio:g} % or a ratio? "
            f"Write '{ratio:g}%' (a ratio of {ratio / 100:g}) or a ratio below 1"
        )
    raise ValueError(f"loss = {ratio:g} is no loss ratio; write one between 0 and 1, or a percentage")


def trials(design: Design, *, seed: int) -> list[Trial]:
    """Lay the trials out, loss ratios drawn from the seed: the same seed, the same trials, on any machine.

    Examples
    --------
    >>> study = trials(Design(), seed=1)
    >>> len(study), {trial.mss_bytes for trial in study} == {536, 1460, 4312}
    (60, True)
    """
    return [
        Trial(
            index=index,
            mss_bytes=mss,
            rtt_ps=rtt,
            loss_ratio=loss,
            seed=named_seed(seed, f"mathis/trial/{index}"),
        )
        for index, (mss, rtt, loss) in enumerate(_points(design, seed))
    ]


def _points(design: Design, seed: int) -> Iterator[tuple[int, int, float]]:
    for mss in design.mss_bytes:
        for rtt in design.rtt_ps:
            for loss in design.loss_ratios or _drawn(design, seed, f"mathis/loss/{mss}/{rtt}"):
                yield mss, rtt, loss


def _drawn(design: Design, seed: int, name: str) -> Iterator[float]:
    """Draw uniformly in log(p); each pair has its own stream, so a wider grid keeps the others' ratios."""
    stream = random.Random(named_seed(seed, name))
    low, high = math.log(design.loss_min), math.log(design.loss_max)
    for _ in range(design.loss_count):
        yield math.exp(low + (high - low) * stream.random())


def named_seed(seed: int, name: str) -> int:
    """Derive the seed of a named stream."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return int.from_bytes(digest[:_SEED_BYTES], "big")
