"""Confidence intervals of counted events: exact binomial, Wilson, Poisson, and the rule of three.

A rare event never comes without its interval, and none seen is an upper bound, not a zero.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, expit, gammaincinv, ndtri

from lossylink._native import binomial_interval, clustered_interval
from lossylink.statistics import CONFIDENCE, arguments
from lossylink.statistics.arguments import FloatArray

_DRAWS: Final = 4_000
"""Places at which a distribution is looked at: a tail of 2.5 % has a hundred of them."""
_FARTHEST: Final = 60.0
"""Logits beyond this are ratios of 0 and 1."""


def clopper_pearson(
    *, events: ArrayLike, trials: ArrayLike, confidence: float = CONFIDENCE
) -> tuple[FloatArray, FloatArray]:
    """Exact two-sided binomial interval of a ratio (Clopper and Pearson 1934); never too narrow.

    Parameters
    ----------
    events, trials
        Events seen and chances for one (at least 1, and no fewer than the events); both broadcast.
    confidence
        Least probability that the interval covers the true ratio, above 0 and below 1.

    Returns
    -------
    tuple of float64 arrays
        Lower and upper bound, each of the broadcast shape.

    Raises
    ------
    ValueError
        When a count is not whole, trials are below 1 or below the events, or the confidence is not
        between 0 and 1.

    Examples
    --------
    >>> low, high = clopper_pearson(events=162, trials=1000)
    >>> f"{float(low):.4f} {float(high):.4f}"
    '0.1397 0.1863'
    """
    seen, chances = _counts(events, trials)
    _tail(confidence)
    pairs = np.broadcast(seen, chances)
    bounds = [binomial_interval(int(count), int(of), confidence) for count, of in pairs]
    low, high = np.asarray(bounds, dtype=np.float64).reshape(*pairs.shape, 2).T
    return np.asarray(low.T), np.asarray(high.T)


def wilson(
    *, events: ArrayLike, trials: ArrayLike, confidence: float = CONFIDENCE
) -> tuple[FloatArray, FloatArray]:
    """Wilson's score interval of a ratio: cheaper and narrower than the exact one, right on average.

    Parameters
    ----------
    events, trials, confidence
        As in `clopper_pearson`.

    Returns
    -------
    tuple of float64 arrays
        Lower and upper bound.

    Raises
    ------
    ValueError
        As `clopper_pearson`.

    Examples
    --------
    >>> low, high = wilson(events=162, trials=1000)
    >>> f"{float(low):.4f} {float(high):.4f}"
    '0.1405 0.1861'
    """
    seen, chances = _counts(events, trials)
    z = ndtri(1 - _tail(confidence))
    share = seen / chances
    middle = share + z**2 / (2 * chances)
    spread = z * np.sqrt(share * (1 - share) / chances + (z / (2 * chances)) ** 2)
    scale = 1 + z**2 / chances
    return np.asarray((middle - spread) / scale), np.asarray((middle + spread) / scale)


def poisson(
    *, events: ArrayLike, exposure: ArrayLike = 1, confidence: float = CONFIDENCE
) -> tuple[FloatArray, FloatArray]:
    """Exact two-sided interval of a rate from a Poisson count (Garwood 1936).

    Parameters
    ----------
    events
        Events seen, at least 0.
    exposure
        Time, frames or whatever the rate is per, above 0; both broadcast.
    confidence
        As in `clopper_pearson`.

    Returns
    -------
    tuple of float64 arrays
        Lower and upper bound, events per unit of exposure.

    Raises
    ------
    ValueError
        When a count is not whole, the exposure not above 0 or the confidence not between 0 and 1.

    Examples
    --------
    >>> low, high = poisson(events=10)
    >>> f"{float(low):.2f} {float(high):.2f}"
    '4.80 18.39'
    """
    seen = arguments.count("events", events)
    per = arguments.positive("exposure", exposure)
    tail = _tail(confidence)
    low = np.where(seen == 0, 0.0, gammaincinv(np.maximum(seen, 1), tail))
    return np.asarray(low / per), np.asarray(gammaincinv(seen + 1, 1 - tail) / per)


def clustered(
    *, events: int, trials: int, design_effect: float, batches: int = 0, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Interval of a ratio whose events come in clusters (Korn and Graubard 1998).

    Dependent trials tell as much as fewer independent ones. The interval is the exact binomial one of events
    and trials over the design effect: so many times the variance of independent events is theirs.

    Parameters
    ----------
    events, trials
        Events seen and chances for one.
    design_effect
        Above 0; 1 for independent events.
    batches
        From how many batches the design effect is known: the interval is wider by the square of Student's
        quantile over the normal one. 0 where it is known otherwise.
    confidence
        As in `clopper_pearson`.

    Returns
    -------
    tuple of float
        Lower and upper bound, from 0 to 1.

    Raises
    ------
    ValueError
        As `clopper_pearson`, and of a design effect that is not above 0.

    Examples
    --------
    Ten events apart, and ten of which each brought four others along:

    >>> apart = clustered(events=10, trials=1000, design_effect=1)
    >>> together = clustered(events=10, trials=1000, design_effect=5)
    >>> [f"{bound:.4f}" for bound in (*apart, *together)]
    ['0.0048', '0.0183', '0.0012', '0.0357']
    """
    return clustered_interval(events, trials, design_effect, batches, confidence)


def _counts(events: ArrayLike, trials: ArrayLike) -> tuple[FloatArray, FloatArray]:
    seen = arguments.count("events", events).astype(np.float64)
    chances = arguments.count("trials", trials, at_least=1).astype(np.float64)
    if (seen > chances).any():
        raise ValueError("events must not outnumber trials: swap the two arguments?")
    return seen, chances


def _tail(confidence: float) -> float:
    return (1 - float(arguments.open_ratio("confidence", confidence))) / 2


def of_bursts(
    *, events: int, trials: int, bursts: float, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Interval of a ratio whose events come in bursts that begin and end by chance, however few were seen.

    The trials are a chain of two states. Bursts begin with chance p in a trial without an event, and end
    with chance r in one with an event, so the ratio is p / (p + r). Each chance is known from what was
    counted: the bursts among the other trials, the ends of bursts among the events. Both ends of the
    interval come from the distributions whose quantiles are the exact (Clopper and Pearson) limits of p and
    r. Of many bursts that is the interval of a clustered ratio, of events apart nearly the binomial one; of
    few bursts it is about that of Fisher's F with two degrees of freedom for each burst, as of rates of
    exponential times (Weerahandi 1993: generalized confidence intervals).

    Parameters
    ----------
    events, trials
        Events seen, at least one, and chances for one.
    bursts
        Runs of events, or as many independent bursts as would tell as much; above 0, at most ``events``.
    confidence
        As in `clopper_pearson`.

    Returns
    -------
    tuple of float
        Lower and upper bound, from 0 to 1.

    Examples
    --------
    Twenty events apart, in five bursts, and in one:

    >>> for bursts in (20, 5, 1):
    ...     low, high = of_bursts(events=20, trials=10_000, bursts=bursts)
    ...     print(f"{low:.5f} {high:.5f}")
    0.00122 0.00329
    0.00057 0.00820
    0.00005 0.13603
    """
    if not 0 < bursts <= events <= trials:
        raise ValueError(f"{bursts:g} bursts of {events} events in {trials} trials are none")
    tail, others = _tail(confidence), trials - events
    low = _ratio_at(tail, begins=(bursts, others - bursts + 1), ends=(bursts, events - bursts))
    high = _ratio_at(1 - tail, begins=(bursts + 1, others - bursts), ends=(bursts, events - bursts + 1))
    return low, high


def _ratio_at(share: float, *, begins: tuple[float, float], ends: tuple[float, float]) -> float:
    """Quantile of p / (p + r) where p and r have beta distributions; one without a second count is at 1."""
    places = (np.arange(_DRAWS) + 0.5) / _DRAWS
    ending = betaincinv(*ends, places) if ends[1] > 0 else np.ones(1)
    if begins[1] <= 0:
        return float(1 / (1 + np.quantile(ending, 1 - share)))

    def excess(logit: float) -> float:
        # p / (p + r) is below x where p is below r x / (1 - x).
        most = np.minimum(1.0, ending * np.exp(logit))
        return float(betainc(*begins, most).mean()) - share

    return float(expit(brentq(excess, -_FARTHEST, _FARTHEST)))
