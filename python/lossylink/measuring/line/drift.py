"""Whether a line's bit error ratio drifts, since when, and when it will cross a target.

Before a change the logarithm of the bit error ratio is level, and behind it a straight line in time. Whether
there is a change is a permutation test: if there is none, the order of the readings is as good as any other,
so that the best change of shuffled readings says how much the best change of these is worth. Readings count
as independent around their level.

The time of the crossing is that of the straight line (Fieller's interval for the place where a regression
meets a value), for every change that explains the readings about as well as the best one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lossylink.errors import UserError
from lossylink.measuring.fit import DOUBT
from lossylink.measuring.line.table import Timed
from lossylink.measuring.line.totals import totals_of
from lossylink.scenario.coded_line import CodedLine
from lossylink.statistics import CONFIDENCE
from lossylink.statistics.arguments import FloatArray
from lossylink.statistics.estimates import Estimate

FEWEST: Final = 8
"""Readings below which nothing is said about drift."""
_FEWEST_BEHIND: Final = 4
"""Readings behind a change: a straight line through fewer says nothing of its error."""
_SHUFFLES: Final = 1_999
_SEED: Final = 45


@dataclass(frozen=True)
class History:
    """Bit error ratios before the code over time."""

    times_s: FloatArray
    """The middle of each interval between two readings, or the time of a gauge; ascending."""
    ratios: FloatArray


@dataclass(frozen=True)
class Drift:
    """What a history tells."""

    history: History
    p_value: float
    """Chance of a change as marked as the best one if there is none."""
    change_s: float
    """The first reading behind the best change."""
    growth: Estimate
    """By how much the logarithm of the bit error ratio grows behind the change, a second."""
    now: float
    """The bit error ratio at the last reading, along the model."""

    @property
    def is_change(self) -> bool:
        """Whether the readings tell a change."""
        return self.p_value < DOUBT


def history_of(readings: Sequence[Timed], line: CodedLine, *, rate_bps: float) -> History:
    """Return the bit error ratios between readings of counters, or those of a gauge.

    Raises
    ------
    UserError
        A time is missing or out of order, a counter runs backwards, or there are too few readings.
    """
    times = [one.time_s for one in readings]
    if any(time is None for time in times):
        raise UserError("a history needs the time of each reading: add a column time_s")
    known = [time for time in times if time is not None]
    if any(after <= before for before, after in pairwise(known)):
        raise UserError("the times of a history ascend; sort its rows by time_s, and leave out doubles")
    if all(one.gauges.pre_fec_ber is not None and one.gauges.wrong_bits is None for one in readings):
        pairs = [(time, one.gauges.pre_fec_ber or 0.0) for time, one in zip(known, readings, strict=True)]
    else:
        pairs = list(_between(readings, known, line, rate_bps))
    if len(pairs) < FEWEST:
        raise UserError(f"{len(pairs)} intervals tell no drift; give at least {FEWEST} of them")
    found, ratios = np.array(pairs).T
    if ratios.min() <= 0:
        raise UserError("a reading has no error at all; read less often, so that each interval has some")
    return History(found, ratios)


def _between(
    readings: Sequence[Timed], times: Sequence[float], line: CodedLine, rate_bps: float
) -> Iterator[tuple[float, float]]:
    for (begin, earlier), (end, later) in pairwise(zip(times, readings, strict=True)):
        gauges = later.gauges.since(earlier.gauges)
        totals = totals_of(gauges, line, seconds=end - begin, rate_bps=rate_bps)
        ratio = totals.bit_error_ratio
        if ratio is None:
            raise UserError(
                "no column of the history tells a bit error ratio; see the headers that are known"
            )
        yield (begin + end) / 2, ratio.value


def drift_of(history: History) -> Drift:
    """Look for a change and say how the line goes on behind it."""
    times, values = history.times_s, np.log(history.ratios)
    gains = _gains(times, values[:, None])[:, 0]
    shuffled = np.random.default_rng(_SEED).permuted(np.tile(values, (_SHUFFLES, 1)), axis=1).T
    beaten = int((_gains(times, shuffled).max(axis=0) >= gains.max()).sum())
    p_value = (1 + beaten) / (1 + _SHUFFLES)
    first = int(np.argmax(gains)) if p_value < DOUBT else 0
    fitted = stats.linregress(times[first:], values[first:])
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, values.size - first - 2)) * float(fitted.stderr)
    slope = float(fitted.slope)
    now = float(fitted.intercept + fitted.slope * times[-1]) if p_value < DOUBT else float(values.mean())
    growth = Estimate(slope, slope - reach, slope + reach)
    return Drift(history, p_value, float(times[first]), growth, float(np.exp(now)))


def crossing(drift: Drift, bit_error_ratio: float) -> Estimate | None:
    """Return when the bit error ratio will cross a target, in seconds on the clock of the readings.

    Nothing is returned where the readings cannot tell.

    They cannot where there is no change, where its growth may as well be none, or where the line falls.
    """
    if not drift.is_change or drift.growth.low <= 0:
        return None
    times, values = drift.history.times_s, np.log(drift.history.ratios)
    wanted = float(np.log(bit_error_ratio))
    found = [_fieller(times[at:], values[at:], wanted) for at in _changes(times, values)]
    best = _fieller(times[times >= drift.change_s], values[times >= drift.change_s], wanted)
    return Estimate(best.value, min(one.low for one in found), max(one.high for one in found))


def _gains(times: FloatArray, columns: FloatArray) -> FloatArray:
    """Return what a change in front of each reading explains beyond a level, for each column.

    In front of the change there is a level, behind it a straight line of its own. A change too near to an end
    explains nothing.
    """
    count = times.size
    sums = [
        np.vstack([np.zeros(columns.shape[1]), np.cumsum(part, axis=0)])
        for part in (columns, columns**2, columns * (times - times.mean())[:, None])
    ]
    places = times - times.mean()
    moments = [np.concatenate([[0.0], np.cumsum(places**power)]) for power in (1, 2)]
    whole = sums[1][-1] - sums[0][-1] ** 2 / count
    gains = np.zeros(columns.shape)
    for at in range(2, count - _FEWEST_BEHIND + 1):
        before = sums[1][at] - sums[0][at] ** 2 / at
        size = count - at
        total, squares, products = (part[-1] - part[at] for part in sums)
        place, spread = (moment[-1] - moment[at] for moment in moments)
        scatter = spread - place**2 / size
        together = products - place * total / size
        behind = squares - total**2 / size - together**2 / scatter
        gains[at] = (whole - before - behind) / np.maximum(before + behind, np.finfo(float).tiny)
    return gains


def _changes(times: FloatArray, values: FloatArray) -> NDArray[np.int64]:
    """Return the changes that explain the readings about as well as the best one, by an F test."""
    left = 1 / (1 + _gains(times, values[:, None])[:, 0])
    freedom = values.size - 4
    most = left.min() * (1 + float(stats.f.ppf(CONFIDENCE, 1, freedom)) / freedom)
    return np.flatnonzero(left <= most)


def _fieller(times: FloatArray, values: FloatArray, wanted: float) -> Estimate:
    """Return where a regression meets a value, with Fieller's interval, which may have no end."""
    fitted, middle = stats.linregress(times, values), float(times.mean())
    freedom = times.size - 2
    left = values - (fitted.intercept + fitted.slope * times)
    variance = float(left @ left) / freedom
    spread = float(((times - middle) ** 2).sum())
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) ** 2 * variance
    slope, rise = float(fitted.slope), wanted - float(values.mean())
    # Places x from the middle where (slope x - rise)^2 is at most reach (1 / n + x^2 / spread).
    square = slope**2 - reach / spread
    best = middle + rise / slope if slope else np.inf
    if square <= 0:
        return Estimate(best, -np.inf, np.inf)
    root = np.sqrt(max(0.0, (slope * rise) ** 2 - square * (rise**2 - reach / times.size)))
    return Estimate(best, middle + (slope * rise - root) / square, middle + (slope * rise + root) / square)
