"""Losses recorded frame by frame, as runs of lost frames and the gaps of delivered frames between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

#: Marks in a line of a trace file.
_LINE_FRAMES = 100


@dataclass(frozen=True)
class Record:
    """Which frames of a sequence were lost, in the order in which they were sent."""

    lost: NDArray[np.bool_]

    @classmethod
    def of(cls, lost: Iterable[bool]) -> Record:
        """Return the record of any marks.

        Examples
        --------
        >>> record = Record.of([False, True, True, False, True])
        >>> record.runs.tolist(), record.gaps.tolist(), record.tail
        ([2, 1], [1, 1], 0)
        """
        return cls(np.fromiter(lost, dtype=np.bool_))

    @property
    def frames(self) -> int:
        """Frames sent."""
        return int(self.lost.size)

    @cached_property
    def losses(self) -> int:
        """Frames lost."""
        return int(self.lost.sum())

    @cached_property
    def _ends(self) -> tuple[Counts, Counts]:
        """Where each run of losses begins, and where the first frame behind it is."""
        edges = np.flatnonzero(np.diff(np.concatenate(([False], self.lost, [False])).astype(np.int8)))
        return edges[::2].astype(np.int64), edges[1::2].astype(np.int64)

    @cached_property
    def runs(self) -> Counts:
        """Lengths of the runs of losses, in frames."""
        begin, end = self._ends
        return end - begin

    @property
    def begins(self) -> Counts:
        """The first frame of each run of losses."""
        return self._ends[0]

    @cached_property
    def gaps(self) -> Counts:
        """Delivered frames in front of each run; the first may be 0."""
        begin, end = self._ends
        return begin - np.concatenate(([0], end[:-1])) if begin.size else begin

    @cached_property
    def tail(self) -> int:
        """Delivered frames behind the last run."""
        _, end = self._ends
        return self.frames - int(end[-1]) if end.size else self.frames

    @property
    def inner_gaps(self) -> Counts:
        """The gaps with a run on both sides, whose lengths are known."""
        return self.gaps[1:]

    def run_counts(self) -> dict[int, int]:
        """Return how many runs of losses have each length.

        Examples
        --------
        >>> Record.of([True, False, True, True, False, True]).run_counts()
        {1: 2, 2: 1}
        """
        lengths, counts = np.unique(self.runs, return_counts=True)
        return {int(length): int(count) for length, count in zip(lengths, counts, strict=True)}

    def gap_frames(self) -> dict[str, float]:
        """Return the shape of the distribution of gaps, which may have as many values as there are losses."""
        if not self.inner_gaps.size:
            return {}
        values = np.percentile(self.inner_gaps, [0, 10, 50, 90, 100])
        shape = dict(zip(("min", "p10", "p50", "p90", "max"), map(float, values), strict=True))
        return shape | {"mean": float(self.inner_gaps.mean())}

    def trace(self) -> str:
        r"""Return the text of a loss trace: a line of 0 and 1 for each hundred frames.

        Examples
        --------
        >>> Record.of([False, True]).trace()
        '01\n'
        """
        marks = (self.lost.astype(np.uint8) + ord("0")).tobytes().decode("ascii")
        lines = (marks[at : at + _LINE_FRAMES] for at in range(0, len(marks), _LINE_FRAMES))
        return "".join(f"{line}\n" for line in lines)
