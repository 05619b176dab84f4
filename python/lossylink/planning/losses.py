"""How bad losses get on a link, but for once in a million: what upper bounds leave out."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache
from typing import Final

from lossylink.planning.link import Link
from lossylink.theory import fec
from lossylink.theory.bursts import losses_among

RARE: Final = 1e-6
"""What a bound may leave out: bursts of losses that one window in a million sees."""

LONGEST_RUN: Final = 10_000
"""Runs of losses are not followed any further."""

MOST_FRAMES: Final = 1_000
"""Windows of bursty losses that are summed whole; a longer one counts as this one."""


def mean_run(link: Link) -> float:
    """Mean length of a run of lost frames that come one after another because losses do, at least 1."""
    return 1.0 if link.chain is None else link.chain.mean_run


def longest_run(link: Link, *, rare: float = RARE) -> int:
    """The longest run of losses, but for once in a million frames, or as rarely as is said."""
    chain = link.chain
    if chain is None:
        return max(1, math.ceil(math.log(rare) / math.log(link.loss_ratio) - 1e-9))
    at = (chain.stationary * (1 - chain.loss)) @ chain.step
    for frames in range(1, LONGEST_RUN):
        at = (at * chain.loss) @ chain.step
        if float(at.sum()) < rare:
            return frames
    return LONGEST_RUN


def losses_within(link: Link, *, frames: int, rare: float = RARE) -> int:
    """The losses among so many frames that are exceeded once in a million, or as rarely as is said."""
    process = link.process
    if process is not None:
        chances = losses_among(process, frames=min(frames, MOST_FRAMES))
        beyond = chances[::-1].cumsum()[::-1]
        return int((beyond[1:] >= rare).sum())
    return _independent_losses(link.loss_ratio, frames, rare)


@lru_cache(maxsize=4096)
def _independent_losses(loss_ratio: float, frames: int, rare: float) -> int:
    """Return `losses_within` of losses that come one by one: each protection and target asks for the same."""

    def is_rare(losses: int) -> bool:
        more = fec.block_failure_ratio(
            data_packets=frames - losses, parity_packets=losses, loss_ratio=loss_ratio
        )
        return float(more) < rare

    return bisect_left(range(frames), True, key=is_rare)
