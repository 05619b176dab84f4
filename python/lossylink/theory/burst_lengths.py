"""Losses in bursts whose lengths have any distribution: what failed codewords of a line make of frames.

Bursts begin by chance in a frame behind one that gets through, and last as many frames as are drawn. The
frames left in a burst are the state of a chain, so that what `lossylink.theory.bursts` sums over a chain of
two states it sums over this one, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray


@dataclass(frozen=True)
class BurstLengths:
    """Losses with a mean ratio, in bursts of 1, 2, ... frames with these shares.

    Examples
    --------
    >>> found = BurstLengths(0.01, (0.25, 0.75))
    >>> found.mean_run, [round(float(share), 4) for share in found.stationary]
    (1.75, [0.99, 0.0057, 0.0043])
    """

    loss_ratio: float
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse shares that do not add up, and bursts that leave no frame between them."""
        arguments.open_ratio("loss_ratio", self.loss_ratio)
        arguments.ratio("shares", self.shares)
        if abs(sum(self.shares) - 1) > _ROUNDING:
            raise ValueError(f"the shares of burst lengths add up to {sum(self.shares):g}, not to 1")
        if self.begins > 1:
            raise ValueError("bursts this short cannot reach that mean: lower the loss")

    @property
    def mean_run(self) -> float:
        """Mean length of a burst in frames."""
        return float(np.arange(1, len(self.shares) + 1) @ np.array(self.shares))

    @property
    def begins(self) -> float:
        """How likely a burst begins behind a frame that gets through."""
        return self.loss_ratio / (self.mean_run * (1 - self.loss_ratio))

    @cached_property
    def stationary(self) -> FloatArray:
        """Shares of the states: between bursts, and with 1, 2, ... frames of a burst left."""
        at_least = np.cumsum(np.array(self.shares)[::-1])[::-1]
        every: FloatArray = (1 - self.loss_ratio) * np.append(1.0, self.begins * at_least)
        return every

    @property
    def loss(self) -> FloatArray:
        """Loss chances of the states."""
        return np.append(0.0, np.ones(len(self.shares)))

    @cached_property
    def step(self) -> FloatArray:
        """The matrix of one step."""
        size = len(self.shares) + 1
        matrix = np.eye(size, k=-1)
        matrix[0, 0], matrix[0, 1:] = 1 - self.begins, self.begins * np.array(self.shares)
        return matrix


#: What sums of shares may miss.
_ROUNDING = 1e-9
