"""What a protection leaves of the losses, with intervals, beside its closed form.

Where no frame stayed lost the point is the upper end of the interval. LinkGuardian's form is p^(N+1) for N
copies, and what its five outstanding losses leave.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lossylink.charts.chart import Chart, Key, Series, Sheet, embedded
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.kinds._losses import ALONG, EFFECTIVE, OF_LINK, by_process
from lossylink.charts.samples import Line, Sample, lines_of
from lossylink.declared.protections import Protection, parse_protection, read_common
from lossylink.errors import UserError
from lossylink.scenario.loss import independent_ratio, parse_loss
from lossylink.statistics.estimates import Estimate, zero_events_upper_bound

RATES = {
    "residual_loss_rate": "residual_loss_ci95",
    "effective_loss_rate": "effective_loss_ci95",
}
"""Rates of rows with their intervals; the first that a row has counts."""

CURVE_POINTS = 61
LEAST_LOSS = 1e-15
"""Closed forms end here: no run looks further."""


def sheet(samples: Sequence[Sample]) -> Sheet:
    """One set of points and one closed form a protection and a set of other settings."""
    found = [sample for sample in samples if estimate_of(sample) is not None and sample.number("loss_rate")]
    if not found:
        raise CannotDrawError("no run has an effective loss; run stress or fec with a loss")
    series: list[Series] = []
    has_bounds = False
    for line in lines_of(by_process(found), across=(ALONG, "traffic.packets")):
        series += [_points(line), *_closed_form(line)]
        has_bounds = has_bounds or any(_is_bound(sample) for sample in line.samples)
    chart = Chart(
        "effective-loss",
        "Effective loss against loss of the link",
        "With 95 % intervals. A triangle that points down is the upper end of the interval where no frame "
        "stayed lost. Dashed: the closed form, for LinkGuardian p^(N+1) with N copies.",
        OF_LINK,
        EFFECTIVE,
        tuple(series),
        read="nearest",
        keys=(Key("none lost: upper bound", "down", hollow=True),) if has_bounds else (),
    )
    return Sheet("effective-loss", (chart,))


def estimate_of(sample: Sample) -> Estimate | None:
    """Return a row's effective loss with its interval; nothing when it has none, or no bound of it."""
    for key, interval_key in RATES.items():
        value = sample.number(key)
        if value is None:
            continue
        interval = sample.row.get(interval_key)
        if interval is not None:
            return Estimate(value, float(interval[0]), float(interval[1]))
        if value > 0:
            return Estimate.exact(value)
        offered = sample.number("frames_offered")
        return Estimate(0.0, 0.0, zero_events_upper_bound(offered)) if offered else None
    return None


def _is_bound(sample: Sample) -> bool:
    estimate = estimate_of(sample)
    return estimate is not None and estimate.value <= 0


def _points(line: Line) -> Series:
    told = sorted(line.samples, key=lambda sample: sample.number("loss_rate") or 0.0)
    seen = [estimate for sample in told if (estimate := estimate_of(sample)) is not None]
    own = ["down" if one.value <= 0 else "circle" for one in seen]
    return Series(
        line.label,
        line.slot,
        embedded([sample.number("loss_rate") or 0.0 for sample in told]),
        embedded([one.value if one.value > 0 else one.high for one in seen]),
        kind="points",
        markers=tuple("down" if shape == "down" else "circle" for shape in own),
        hollow=tuple(shape == "down" for shape in own),
        y_low=embedded([one.low if one.value > 0 and one.low > 0 else one.high for one in seen]),
        y_high=embedded([one.high for one in seen]),
        labels=tuple("none lost: upper bound" if shape == "down" else "measured" for shape in own),
    )


def _closed_form(line: Line) -> list[Series]:
    """Return the closed form over the losses of a line; none for bursts, or where there is no form."""
    first = line.samples[0]
    protection = _protection(first)
    ways_back = {_independent_ratio(sample, "loss.reverse") for sample in line.samples}
    if (
        protection is None
        or len(ways_back) != 1
        or not all(_is_independent(sample) for sample in line.samples)
    ):
        return []  # lines of several ways back have no form of their own
    (way_back,) = ways_back
    losses = [sample.number("loss_rate") or 0.0 for sample in line.samples]
    grid = np.geomspace(min(losses) / 3, min(0.5, max(losses) * 3), CURVE_POINTS)
    found = [
        (float(loss), left)
        for loss in grid
        if (left := _left(protection, float(loss), way_back)) is not None and left >= LEAST_LOSS
    ]
    if not found:
        return []
    x, y = zip(*found, strict=True)
    return [Series(f"{line.label}, closed form", line.slot, embedded(x), embedded(y), dashed=True)]


def _protection(sample: Sample) -> Protection | None:
    """Return the protection with the options of its scenario."""
    options = {
        key.partition(".")[2]: value
        for key, value in sample.settings.items()
        if key.startswith("protection.")
    }
    try:
        return parse_protection(
            sample.protection, {name: read_common(name, value) for name, value in options.items()}
        )
    except UserError:
        return None


def _left(protection: Protection, loss_ratio: float, reverse_loss_ratio: float | None) -> float | None:
    return protection.family.residual_loss(
        protection.value, loss_ratio=loss_ratio, reverse_loss_ratio=reverse_loss_ratio
    )


def _is_independent(sample: Sample) -> bool:
    return _independent_ratio(sample, "loss.forward") is not None


def _independent_ratio(sample: Sample, key: str) -> float | None:
    """Return the ratio of one direction's independent losses; nothing for others."""
    try:
        return independent_ratio(parse_loss(sample.settings.get(key, "0")).native)
    except UserError:
        return None  # a recording that is no longer there


KIND = Kind(
    name="effective-loss", place=50, summary="what stays lost against loss, beside closed forms", sheet=sheet
)
