"""Tables and the figure of the bursts that codes of lines leave."""

from __future__ import annotations

from collections.abc import Callable

from lossylink.charts.chart import Axis, Chart, Key, Series, embedded
from lossylink.charts.palette import name_of
from lossylink.reproduce.experiments.protections.bursts import (
    FRAMES_BYTES,
    LINES,
    LOSS,
    PROTECTIONS,
    burst_frames,
    burst_job,
    independent_job,
    left,
)
from lossylink.reproduce.framework.comparison import Cell, Column, ComparisonTable, Row, cell
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished
from lossylink.reproduce.framework.quantity import power_text
from lossylink.statistics.estimates import Estimate

IDENTIFIER = "protections-bursts"
_ALL = ("none", *PROTECTIONS)
_SLOTS = dict(zip(_ALL, ("vermillion", "blue", "sky", "purple", "yellow", "orange", "black"), strict=True))
"""Those of other figures, where a protection has one."""
_ENDS: dict[str, Callable[[Estimate], float]] = {
    "": lambda one: one.value,
    ", lower end of the 95 % interval": lambda one: one.low,
    ", upper end of the 95 % interval": lambda one: one.high,
}


def burst_tables(finished: Finished) -> tuple[ComparisonTable, ...]:
    """What stays lost, and the ends of its intervals."""
    return tuple(_table(finished, words, read) for words, read in _ENDS.items())


def _table(finished: Finished, words: str, read: Callable[[Estimate], float]) -> ComparisonTable:
    places = [(f"independent, {size:,} B", independent_job(size), 1.0) for size in FRAMES_BYTES]
    places += [(line.name, burst_job(line), burst_frames(line)) for line in LINES]
    rows = tuple(
        _row(finished, name, job, mean, read)
        for name, job, mean in places
        if not finished.runs or job in finished.runs
    )
    columns = (Column("frames a burst"), *(Column(name_of(one)) for one in _ALL))
    return ComparisonTable(
        f"Residual loss under bursts of failed codewords, at a loss of {power_text(LOSS)}{words}",
        columns,
        rows,
        "Frames a burst: by theory, on a busy line.",
    )


def _row(finished: Finished, name: str, job: str, mean: float, read: Callable[[Estimate], float]) -> Row:
    burst = Cell(mean if finished.runs else None)
    return Row(name, (burst, *(cell(_left, finished, job, one, read) for one in _ALL)), "", 3)


def _left(finished: Finished, job: str, protection: str, read: Callable[[Estimate], float]) -> float:
    return read(left(finished, job, protection))


def burst_charts(finished: Finished) -> tuple[Chart, ...]:
    """A panel a size of frames: what stays lost against how many frames are lost in a row."""
    return tuple(chart for size in FRAMES_BYTES if (chart := _chart(finished, size)) is not None)


def _chart(finished: Finished, size: int) -> Chart | None:
    jobs = [(1.0, independent_job(size))]
    jobs += [(burst_frames(line), burst_job(line)) for line in LINES if line.frame_bytes == size]
    series = tuple(one for protection in _ALL if (one := _series(finished, protection, jobs)) is not None)
    if not series:
        return None
    return Chart(
        f"{IDENTIFIER}-{size}",
        f"{size:,} B frames, a loss of {power_text(LOSS)}",
        "With 95 % intervals. A triangle is the upper end of the interval where no frame was lost. At 1 "
        "losses are independent. Bursts of two codes may be of one length.",
        Axis("frames lost in a row, mean by theory", "", "log", low=0.9, high=40.0),
        Axis("residual loss", "", "log", low=1e-8, high=2.0),
        series,
        read="nearest",
        keys=(Key("none lost: upper end", "triangle", hollow=True),),
    )


def _series(finished: Finished, protection: str, jobs: list[tuple[float, str]]) -> Series | None:
    found: list[tuple[float, Estimate]] = []
    for mean, job in sorted(jobs):
        try:
            found.append((mean, left(finished, job, protection)))
        except NotRunError:
            continue
    if not found:
        return None
    return Series(
        name_of(protection),
        _SLOTS[protection],
        embedded([mean for mean, _ in found]),
        embedded([one.value or one.high for _, one in found]),
        kind="points",
        markers=tuple("circle" if one.value else "triangle" for _, one in found),
        hollow=tuple(not one.value for _, one in found),
        y_low=embedded([one.low or one.high for _, one in found]),
        y_high=embedded([one.high for _, one in found]),
    )
