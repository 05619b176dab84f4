"""Whether losses keep apart, and whether they repeat: two tests that losses in bursts do not fail.

* Kept apart: the distances between losses vary less than those of independent losses. Of these the variance
  is m (m - 1) at a mean of m frames (geometric), and bursts only make it larger. Given their number and their
  sum, all sequences of independent distances are equally likely, which makes the test exact.
* Repeating: a line in the spectrum of the beginnings of runs. The first half of the record says at which
  frequency, the second half whether the line is there: no search has to be allowed for. The line is compared
  with its neighbours, because bursts have a spectrum that is not flat, but smooth.

The distances follow Cox and Lewis, The Statistical Analysis of Series of Events (1966), chapters 3 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special, stats

from lossylink.measuring.likelihood import Floats
from lossylink.measuring.record import Counts, Record

DRAWS: Final = 1_999
"""Random sequences behind the chance of distances as even as those of a record."""

FEW_DISTANCES: Final = 200
"""Below so many, sequences are drawn; above, the variance is normal, and its lower tail a little lighter."""

NEIGHBOURS: Final = 20
"""Frequencies on each side of a line that it is compared with."""

FEWEST_PERIODS: Final = 10
"""Periods in half of a record below which nothing is said about one."""

MOST_HARMONICS: Final = 1_000
"""A line may be so many times the frequency with which losses repeat."""

#: Power of a neighbourhood, in that of independent losses, below which none is taken: that of an even
#: sequence is nothing but rounding.
_LEAST_POWER = 0.05
#: Places beside a line that belong to it.
_BESIDE = 1
#: Frequencies at which a line is looked at, from one step below it to one above, each time nearer.
_FINE = 41
#: Events that place a line.
_PLACED = 20_000
#: Share of a step to which its frequency is known.
_KNOWN = 0.05


@dataclass(frozen=True)
class Repeating:
    """The period with which losses come again, and how likely as clear a one is by chance."""

    period_frames: float
    p_value: float


def kept_apart(record: Record) -> float:
    """Return the chance that independent losses have distances at least as even as those of a record.

    Examples
    --------
    >>> marks = [False] * 2000
    >>> marks[::20] = [True] * 100
    >>> kept_apart(Record.of(marks))
    0.0005
    """
    distances = np.diff(np.flatnonzero(record.lost))
    count, total = distances.size, int(distances.sum())
    if count < 2 or total == count:
        return 1.0
    if count >= FEW_DISTANCES:
        mean = total / count
        surplus = float(distances.var()) / (mean * (mean - 1)) - 1
        # The polynomial that is orthogonal to the mean: its variance is 4 times the square of that of a
        # distance (Morris 1982, the family with a quadratic variance).
        return float(special.ndtr(surplus * np.sqrt(count) / 2))
    squares = int((distances.astype(np.int64) ** 2).sum())
    draws = np.random.default_rng(count).dirichlet(np.ones(count), size=DRAWS)
    drawn = np.random.default_rng(total).multinomial(total - count, draws) + 1
    return (1 + int(((drawn**2).sum(axis=1) <= squares).sum())) / (DRAWS + 1)


def repeating(record: Record) -> Repeating | None:
    """Return the period of a record, if it is long enough to have one.

    Examples
    --------
    >>> marks = [False] * 2000
    >>> marks[::20] = [True] * 100
    >>> repeating(Record.of(marks)).period_frames
    20.0
    """
    half = record.frames // 4 * 2
    begins = record.begins
    first, second = begins[begins < half], begins[(begins >= half) & (begins < 2 * half)] - half
    if min(first.size, second.size) < FEWEST_PERIODS // 2 or half // 2 <= FEWEST_PERIODS + NEIGHBOURS:
        return None
    power = _power(first, half)
    prominence = power / np.maximum(_LEAST_POWER, _around(power))
    line = FEWEST_PERIODS + int(prominence[FEWEST_PERIODS:].argmax())
    power = _power(second, half)
    around = np.maximum(_LEAST_POWER, _around(power))
    places = [at for at in (line - 1, line, line + 1) if at < power.size]
    chances = [_chance(power[at] / around[at], is_last=at == power.size - 1) for at in places]
    return Repeating(_period(line, begins, half), min(1.0, len(places) * min(chances)))


def _power(begins: Counts, frames: int) -> Floats:
    """The periodogram of events: 1 on average where they are independent."""
    marks = np.bincount(begins, minlength=frames).astype(np.float64)
    share = begins.size / frames
    return np.asarray(np.abs(np.fft.rfft(marks - share)) ** 2 / (begins.size * (1 - share)))


def _around(power: Floats) -> Floats:
    """The mean power beside each frequency, without its own; the zero frequency has none."""
    sums = np.concatenate(([0.0, 0.0], np.cumsum(power[1:])))
    at = np.arange(power.size)

    def within(low: Counts, high: Counts) -> tuple[Floats, Counts]:
        low, high = np.clip(low, 1, power.size), np.clip(high, 1, power.size)
        return sums[high] - sums[low], high - low

    wide, wide_count = within(at - NEIGHBOURS - _BESIDE, at + NEIGHBOURS + _BESIDE + 1)
    own, own_count = within(at - _BESIDE, at + _BESIDE + 1)
    return np.asarray((wide - own) / (wide_count - own_count))


def _chance(ratio: float, *, is_last: bool) -> float:
    """The chance of a power at least so many times that of its neighbours; the highest frequency is real."""
    return float(stats.f.sf(ratio, 1 if is_last else 2, 4 * NEIGHBOURS))


def _period(line: int, begins: Counts, half: int) -> float:
    """The frames after which losses come again: of the lowest frequency of which the line is a multiple."""
    at = begins[:_PLACED]
    rate, step = line / half, 1 / half
    for _ in range(3):
        rates = rate + step * np.linspace(-1, 1, _FINE)
        rate, step = float(rates[_clear(rates, at).argmax()]), 2 * step / (_FINE - 1)
    times = np.arange(1, min(MOST_HARMONICS, line // 2) + 1)
    clear = _clear(rate / times, at)
    period = int(times[clear >= clear[0] / 2].max()) / rate
    return float(round(period)) if abs(period - round(period)) <= period / line * _KNOWN else period


def _clear(rates: Floats, begins: Counts) -> Floats:
    """How clear each frequency is among events: the square of the sum of their phases."""
    return np.array([abs(np.exp(2j * np.pi * rate * begins).sum()) ** 2 for rate in rates])
