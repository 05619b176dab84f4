"""Losses behind the code of the line itself: how many frames of a size, and how long their bursts are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from lossylink.errors import UserError
from lossylink.scenario.coded_line import CodedLine
from lossylink.theory.phy import bit_error_ratio_for, frame_loss_ratio, loss_bursts, mean_loss_burst_frames


@dataclass(frozen=True)
class LineLosses:
    """A line whose code cannot correct everything.

    Examples
    --------
    >>> from lossylink.scenario.loss import parse_loss
    >>> found = LineLosses.of(parse_loss("phy:code=rs544,ber=3e-4").native_at(100e9))
    >>> f"{found.ratio(1518):.3e} in bursts of {found.mean_burst(1518):.3f} frames"
    '7.250e-11 in bursts of 1.408 frames'
    """

    line: CodedLine
    bit_error_ratio: float
    """Wrong bits over all before the code."""

    @classmethod
    def of(cls, native: Mapping[str, Any]) -> LineLosses:
        """Return the losses of a loss model ``phy:``, given as JSON for a rate."""
        return cls(CodedLine.of(native), native["ber"])

    def ratio(self, frame_bytes: int) -> float:
        """Return the share of frames lost; a frame's octets count with its check sequence."""
        return _ratio(self, frame_bytes)

    def bit_error_ratio_for(self, loss_ratio: float, frame_bytes: int) -> float:
        """Return the bit error ratio with which the line loses this share of frames."""
        return _bit_error_ratio(self, loss_ratio, frame_bytes)

    def mean_burst(self, frame_bytes: int) -> float:
        """Return how many frames in a row are lost on a busy line, on average.

        Raises
        ------
        UserError
            No frame is lost, or every one, and there is no burst.
        """
        try:
            return _mean_burst(self, frame_bytes)
        except ValueError as error:
            raise UserError(str(error)) from None

    def burst_shares(self, frame_bytes: int) -> tuple[float, ...]:
        """Return the shares of bursts of 1, 2, ... frames on a busy line; the last has longer ones, too."""
        return _burst_shares(self, frame_bytes)


#: Bursts of more frames count as this long.
_LONGEST = 64


@lru_cache(maxsize=256)
def _burst_shares(losses: LineLosses, frame_bytes: int) -> tuple[float, ...]:
    shares = loss_bursts(
        losses.line.code,
        bit_error_ratio=losses.bit_error_ratio,
        frame_bytes=frame_bytes,
        longest=_LONGEST - 1,
        **losses.line.options(),
    )
    used = int(np.flatnonzero(shares)[-1]) + 1
    return tuple((shares[:used] / shares.sum()).tolist())


@lru_cache(maxsize=256)
def _bit_error_ratio(losses: LineLosses, loss_ratio: float, frame_bytes: int) -> float:
    return bit_error_ratio_for(loss_ratio, losses.line.code, frame_bytes=frame_bytes, **losses.line.options())


@lru_cache(maxsize=256)
def _ratio(losses: LineLosses, frame_bytes: int) -> float:
    return frame_loss_ratio(
        losses.line.code,
        bit_error_ratio=losses.bit_error_ratio,
        frame_bytes=frame_bytes,
        **losses.line.options(),
    )


@lru_cache(maxsize=256)
def _mean_burst(losses: LineLosses, frame_bytes: int) -> float:
    return mean_loss_burst_frames(
        losses.line.code,
        bit_error_ratio=losses.bit_error_ratio,
        frame_bytes=frame_bytes,
        **losses.line.options(),
    )
