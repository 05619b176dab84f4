"""Protections under the bursts that the codes of lines leave, beside independent losses of the same ratio.

A failed codeword takes every frame along that touches it: eight or nine minimum frames of a busy line behind
KP4, and more where codewords interleave. LinkGuardian reports five losses at a time (LG-9). A block code
repairs as many as it has parity frames. Copies of a retransmission leave one behind the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Job, Scale
from lossylink.reproduce.shared.measures import lost_after_protection, residual_loss
from lossylink.statistics.estimates import Estimate
from lossylink.theory.phy import bit_error_ratio_for, code_named, loss_bursts, mean_loss_burst_frames

LOSS: Final = 1e-3
"""Of the frames, whatever their size and their line."""
GBPS: Final = 100
CODES: Final = {"rs272": "low-latency code", "rs544": "KP4"}
INTERLEAVED: Final = (1, 2, 4)
FRAMES_BYTES: Final = (64, 1_518)
"""Frames with their check sequence: the smallest and the largest."""
FCS_BYTES: Final = 4
PROTECTIONS: Final = (
    "lg:copies=2",
    "lg:copies=2,holes=unlimited",
    "llr",
    "fec:32/1",
    "fec:32/4",
    "fec:32/12",
)
"""Retransmission with five registers and with any number, go-back-N, and blocks with more and more parity."""
FRAMES: Final = 16_000_000
"""Frames of a point: 16,000 are lost."""


class Line(NamedTuple):
    """A line with bit errors, and the size of the frames that cross it."""

    code: str
    interleaved: int
    frame_bytes: int

    @property
    def name(self) -> str:
        """As tables and jobs call it."""
        return f"{CODES[self.code]}, {self.interleaved} interleaved, {self.frame_bytes:,} B"


REGISTERS: Final = 5
"""Losses that LinkGuardian reports at a time (LG-9)."""
WITHIN: Final = 0.2
ALONE: Final = Line("rs544", 1, FRAMES_BYTES[0])
LINES: Final = tuple(Line(code, x, size) for size in FRAMES_BYTES for code in CODES for x in INTERLEAVED)


@cache
def bits(line: Line) -> float:
    """Return the bit error ratio, to four digits, at which a line loses `LOSS` of its frames.

    Examples
    --------
    >>> bits(LINES[3]), bits(LINES[-1])
    (0.001181, 0.001002)
    """
    code = code_named(line.code)
    found = bit_error_ratio_for(LOSS, code, frame_bytes=line.frame_bytes, interleaved=line.interleaved)
    return float(f"{found:.4g}")


@cache
def burst_frames(line: Line) -> float:
    """Return how many frames are lost in a row on average, by theory.

    Examples
    --------
    >>> [round(burst_frames(line), 1) for line in LINES[:6]]
    [4.7, 8.5, 16.1, 8.5, 16.1, 31.4]
    """
    return mean_loss_burst_frames(
        code_named(line.code),
        bit_error_ratio=bits(line),
        frame_bytes=line.frame_bytes,
        interleaved=line.interleaved,
    )


def burst_job(line: Line) -> str:
    """The job over a line with bit errors."""
    return f"bursts: {line.name}"


def independent_job(frame_bytes: int) -> str:
    """The job of as many losses that come alone."""
    return f"bursts: independent, {frame_bytes:,} B"


def jobs(scale: Scale) -> tuple[Job, ...]:
    """Every line, then independent losses of each size of frames."""
    frames = scale.of(FRAMES, at_least=400_000)
    return (
        *(_job(burst_job(line), _spelled(line), line.frame_bytes, frames) for line in LINES),
        *(_job(independent_job(size), f"{LOSS:g}", size, frames) for size in FRAMES_BYTES),
    )


def _spelled(line: Line) -> str:
    return f"phy:code={line.code},ber={bits(line):g},interleave={line.interleaved}"


def _job(key: str, losses: str, frame_bytes: int, frames: int) -> Job:
    settings: dict[str, Any] = {
        "link.rate": f"{GBPS}Gbps",
        "link.length": "10m",
        "loss.forward": losses,
        "traffic.packets": frames,
        "traffic.frame": frame_bytes - FCS_BYTES,
        "traffic.source": "saturated",
    }
    return Job(key, "stress", ("none", *PROTECTIONS), settings, frames / 1e6)


def lines_run(finished: Finished) -> Iterator[Line]:
    """Yield the lines that were run; at least one."""
    found = [line for line in LINES if burst_job(line) in finished.runs]
    yield from found
    if not found:
        raise NotRunError("no line with bit errors was run")


def share_left(finished: Finished, line: tuple[str, int, int], protection: str) -> Estimate:
    """Share of a line's losses in the protection's own run that stays lost."""
    job = burst_job(Line(*line))
    lost = finished.number(job, protection, "actual_loss_rate")
    if lost == 0:
        raise NotRunError(f"{job} lost no frame with {protection}")
    found = residual_loss(finished, job, protection)
    return Estimate(found.value / lost, found.low / lost, found.high / lost)


def worst(finished: Finished, protection: str, sizes: Sequence[int]) -> Estimate:
    """The residual loss of the line whose interval reaches highest, of lines with frames of some sizes."""
    found = [
        residual_loss(finished, burst_job(line), protection)
        for line in lines_run(finished)
        if line.frame_bytes in sizes
    ]
    return max(found, key=lambda one: one.high)


def lost_with_retry(finished: Finished) -> float:
    """Frames that stay lost with LLR, of all lines."""
    return float(
        sum(lost_after_protection(finished, burst_job(line), "llr")[0] for line in lines_run(finished))
    )


def least_beyond() -> float:
    """A fifth less than the share of losses that `REGISTERS` do not report behind KP4, by theory."""
    return round((1 - WITHIN) * share_beyond(ALONE, REGISTERS), 2)


def most_beyond() -> float:
    """A fifth more than the share of losses that `REGISTERS` do not report behind KP4, by theory."""
    return round((1 + WITHIN) * share_beyond(ALONE, REGISTERS), 2)


@cache
def share_beyond(line: Line, registers: int) -> float:
    """Return the share of lost frames that are beyond the first ones of their burst, by theory.

    Examples
    --------
    >>> f"{share_beyond(LINES[3], 5):.3f}"
    '0.410'
    """
    lengths = loss_bursts(
        code_named(line.code),
        bit_error_ratio=bits(line),
        frame_bytes=line.frame_bytes,
        interleaved=line.interleaved,
    )
    frames = np.arange(1, lengths.size + 1)
    return float((lengths * np.maximum(0, frames - registers)).sum() / (lengths * frames).sum())
