"""What gets through against what the link loses."""

from __future__ import annotations

from collections.abc import Sequence

from lossylink.charts.chart import Axis, Chart, Series, Sheet, embedded
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.kinds._losses import ALONG, OF_LINK, SWEEP_IT, by_process, link_loss
from lossylink.charts.samples import Line, Sample, distinct, lines_of
from lossylink.statistics.estimates import Estimate, mean_interval

RATES = {
    "average_throughput_gbps": "throughput",
    "throughput_gbps": "throughput",
    "effective_link_speed_gbps": "effective link speed",
}
"""Keys of rows, each with what it is; the first that a row has counts."""


def sheet(samples: Sequence[Sample]) -> Sheet:
    """One line a protection and a set of other settings; means where a loss was run several times."""
    found = [sample for sample in samples if rate_of(sample) is not None]
    if not found:
        raise CannotDrawError("no run has a throughput; run throughput, stress or fec")
    lossy = [sample for sample in found if sample.number("loss_rate")]
    if len(distinct(lossy, link_loss)) < 2:
        raise CannotDrawError(SWEEP_IT)
    words = {word for sample in lossy if (word := rate_of(sample)) is not None}
    title = words.pop() if len(words) == 1 else "speed"
    series = tuple(_series(line) for line in lines_of(by_process(lossy), across=(ALONG, "seed")))
    chart = Chart(
        "goodput",
        f"{title[:1].upper()}{title[1:]} against the loss of the link",
        "With 95 % intervals, where a loss was run several times or a row has one.",
        OF_LINK,
        Axis(title, "Gb/s", low=0.0),
        series,
    )
    return Sheet("goodput", (chart,))


def rate_of(sample: Sample) -> str | None:
    """Return what a row's speed is; nothing when it has none."""
    return next((words for key, words in RATES.items() if sample.number(key) is not None), None)


def _gbps(sample: Sample) -> list[float]:
    """Return the speeds of a sample: of each trial where there is a table of them."""
    trials = sample.tables.get("trials")
    if trials is not None and "throughput_gbps" in trials.columns and trials.height > 1:
        return [float(value) for value in trials["throughput_gbps"].drop_nulls()]
    return [next(value for key in RATES if (value := sample.number(key)) is not None)]


def _series(line: Line) -> Series:
    by_loss: dict[float, list[Sample]] = {}
    for sample in line.samples:
        by_loss.setdefault(link_loss(sample) or 0.0, []).append(sample)
    losses = sorted(by_loss)
    means = [_mean(by_loss[loss]) for loss in losses]
    has_interval = any(not mean.is_exact for mean in means)
    return Series(
        line.label,
        line.slot,
        embedded(losses),
        embedded([mean.value for mean in means]),
        kind="marked",
        y_low=embedded([mean.low for mean in means]) if has_interval else None,
        y_high=embedded([mean.high for mean in means]) if has_interval else None,
    )


def _mean(samples: Sequence[Sample]) -> Estimate:
    """Return the mean of several runs with its interval, or the speed of one run with that of its row."""
    values = [gbps for sample in samples for gbps in _gbps(sample)]
    if len(values) > 1:
        return mean_interval(values)
    known = next(
        (
            found
            for key in RATES
            if samples[0].number(key) is not None and (found := samples[0].row.get(f"{key}_ci95"))
        ),
        None,
    )
    return (
        Estimate.exact(values[0]) if known is None else Estimate(values[0], float(known[0]), float(known[1]))
    )


KIND = Kind(name="goodput", place=40, summary="throughput or effective speed against loss", sheet=sheet)
