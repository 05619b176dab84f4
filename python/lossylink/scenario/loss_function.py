"""A loss process from a Python function: which frames are lost becomes the list of a model ``at:``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossylink.errors import UserError
from lossylink.scenario.loss import MAX_POSITIONS

LossFunction: TypeAlias = Callable[[int, np.random.Generator], NDArray[np.bool_]]
"""Takes a count of frames and a random generator, gives whether each frame is lost."""

FRAMES = 1_000_000
"""Frames that a function decides where the experiment does not say how many it sends."""

_STREAM = 0x1055
"""Sets the generator apart from others of the same seed."""


def listed(function: LossFunction, *, frames: int, seed: int) -> str:
    """Call a function once and spell the frames that it loses, as a loss model of a scenario.

    Raises
    ------
    UserError
        The function gives no array of bools, one a frame, or loses too many frames for a list.

    Examples
    --------
    >>> listed(lambda n, rng: np.arange(n) % 100 < 2, frames=300, seed=1)
    'at:0-1,100-101,200-201'
    """
    lost = np.asarray(function(frames, np.random.default_rng([_STREAM, seed])))
    if lost.dtype != np.bool_ or lost.shape != (frames,):
        raise UserError(
            f"the loss function gave {lost.dtype} of shape {lost.shape}; give bools of shape ({frames},): "
            "True where a frame is lost"
        )
    positions = np.flatnonzero(lost)
    if positions.size > MAX_POSITIONS:
        raise UserError(
            f"the loss function loses {positions.size:,} frames, and a list holds {MAX_POSITIONS:,}; "
            "write a file of 0 and 1 and give loss='trace:FILE'"
        )
    return f"at:{','.join(_ranges(positions))}" if positions.size else "none"


def _ranges(positions: NDArray[np.intp]) -> Iterator[str]:
    for run in np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1):
        yield str(run[0]) if run.size == 1 else f"{run[0]}-{run[-1]}"
