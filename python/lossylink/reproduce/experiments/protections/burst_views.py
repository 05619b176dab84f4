"""Tables and the figure of the bursts that codes of lines leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lossylink.charts.chart import Axis, Chart, Key, Series
from lossylink.charts.palette import name_of
from lossylink.reproduce.experiments.protections.bursts import (
    FRAMES_BYTES,
    LINES,
    LOSS,
    PROTECTIONS,
    burst_frames,
    burst_job,
    independent_job,
)
from lossylink.reproduce.framework.comparison import ComparisonTable, filled
from lossylink.reproduce.framework.missing import known
from lossylink.reproduce.framework.model import Finished
from lossylink.reproduce.framework.quantity import power_text
from lossylink.reproduce.shared.charts import residual_points
from lossylink.reproduce.shared.measures import residual_loss
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
    places = {independent_job(size): (f"independent, {size:,} B", 1.0) for size in FRAMES_BYTES}
    places |= {burst_job(line): (line.name, burst_frames(line)) for line in LINES}

    def number(job: str, protection: str) -> float:
        if protection:
            return read(residual_loss(finished, job, protection))
        finished.run(job)
        return places[job][1]

    return filled(
        f"Residual loss under bursts of failed codewords, at a loss of {power_text(LOSS)}{words}",
        {"": "frames a burst", **{one: name_of(one) for one in _ALL}},
        {job: name for job, (name, _) in places.items() if not finished.runs or job in finished.runs},
        number,
        digits=3,
        note="Frames a burst: by theory, on a busy line.",
    )


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
    means = {job: mean for mean, job in sorted(jobs)}
    found = known(means, lambda job: residual_loss(finished, job, protection))
    if not found:
        return None
    seen = list(found.values())
    drawn = residual_points(name_of(protection), _SLOTS[protection], [means[job] for job in found], seen)
    return replace(drawn, hollow=tuple(not one.value for one in seen))
