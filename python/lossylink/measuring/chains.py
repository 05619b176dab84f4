"""The Gilbert-Elliott chain that makes a record most likely, with the intervals of its parameters.

Chains are fitted by maximum likelihood, each kind beginning where the smaller one ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy import optimize, special

from lossylink.declared.job import Progress
from lossylink.measuring.likelihood import Floats, log_likelihood
from lossylink.measuring.record import Record
from lossylink.statistics import CONFIDENCE
from lossylink.statistics.estimates import Estimate, binomial_interval
from lossylink.theory.bursts import Chain

#: Logits beyond this are chances of 0 and 1 for any record that fits into memory.
_FARTHEST = 30.0
#: How a search climbs: slopes over steps that rounding does not drown, and an end where little is gained.
_CLIMB: Final[Any] = {"eps": 1e-5, "gtol": 1e-2, "maxiter": 100}
#: Names of the parameters of a chain, in the order in which models add them.
PARAMETERS: Final = ("p", "r", "bad", "good")


@dataclass(frozen=True)
class Candidate:
    """A chain and how likely the record is along it; ``free`` parameters were chosen by the record."""

    chain: Chain
    free: int
    likelihood: float


def candidates(record: Record, share: float, report: Progress) -> list[Candidate]:
    """Return the best chain of each kind: with p and r alone, with bad as well, with good as well."""
    stay, leave = record.losses - record.runs.size, record.runs.size
    clear = record.frames - record.losses
    simple = Chain(
        to_bad=min(1.0, leave / max(1, clear)), to_good=leave / (stay + leave), loss_bad=1.0, loss_good=0.0
    )
    found = [Candidate(simple, 2, log_likelihood(simple, record))]
    for free in (3, 4):
        starts = _starts(found[-1].chain, record, share, free)
        climbed = []
        for number, start in enumerate(starts):
            climbed.append(_climb(record, free, start))
            report((free - 3) * len(starts) + number + 1, 2 * len(starts))
        found.append(max(climbed, key=lambda one: one.likelihood))
    return found


def _starts(known: Chain, record: Record, share: float, free: int) -> list[Chain]:
    """Chains to begin a search at: the best of the smaller kind, and bursts as far apart as the gaps say."""
    good = share / 5 if free == 4 else 0.0
    usual = float(np.median(record.inner_gaps))
    inside = record.inner_gaps[record.inner_gaps <= max(1.0, usual / 10)]
    dense = 1 / (1 + float(inside.mean())) if inside.size else 0.5
    starts = [replace(known, loss_good=good)]
    for bad in (0.5, min(0.9, max(dense, 2 * share))):
        bursts = max(1, int((record.inner_gaps > 10 / bad).sum()))
        to_good = min(0.9, bursts * bad / record.losses)
        in_bad = min(0.9, share / bad)
        to_bad = min(0.9, to_good * in_bad / (1 - in_bad))
        starts.append(Chain(to_bad=to_bad, to_good=to_good, loss_bad=bad, loss_good=good))
    return starts


def _climb(record: Record, free: int, start: Chain) -> Candidate:
    """Climb from a chain to the most likely one in reach, along the logits of its parameters."""

    def cost(logits: Floats) -> float:
        return -log_likelihood(_chain(logits), record)

    chain = _chain(optimize.minimize(cost, _logits(start, free), method="BFGS", options=_CLIMB).x)
    return Candidate(chain, free, log_likelihood(chain, record))


def _chain(logits: Floats) -> Chain:
    """Return the chain of logits; which state is the bad one does not matter for its likelihood."""
    within = np.clip(logits, -_FARTHEST, _FARTHEST)
    values = dict(zip(PARAMETERS, (float(one) for one in special.expit(within)), strict=False))
    p, r, bad, good = (
        values.get(name, default) for name, default in zip(PARAMETERS, (0, 0, 1, 0), strict=True)
    )
    if bad < good:
        p, r, bad, good = r, p, good, bad
    return Chain(to_bad=p, to_good=r, loss_bad=bad, loss_good=good)


def values_of(chain: Chain, free: int) -> list[float]:
    """Return the first parameters of a chain, in the order of `PARAMETERS`."""
    return [chain.to_bad, chain.to_good, chain.loss_bad, chain.loss_good][:free]


def _logits(chain: Chain, free: int) -> Floats:
    # A start at 0 or 1 would have no slope to climb along.
    inside = np.clip(values_of(chain, free), 1e-9, 1 - 1e-3)
    return np.asarray(special.logit(inside))


def parameter_intervals(best: Candidate, record: Record) -> dict[str, Estimate]:
    """Return the parameters of a chain with their intervals."""
    if best.free == 2:
        leave, stay = int(record.runs.size), record.losses - int(record.runs.size)
        entered = binomial_interval(leave, max(leave, record.frames - record.losses))
        return {"p": entered, "r": binomial_interval(leave, leave + stay)}
    at = _logits(best.chain, best.free)
    deviation = _deviations(lambda logits: -log_likelihood(_chain(logits), record), at)
    half = deviation * float(special.ndtri((1 + CONFIDENCE) / 2))
    low, high = special.expit(at - half), special.expit(at + half)
    values = values_of(best.chain, best.free)
    return {
        name: Estimate(value, float(min(low[n], value)), float(max(high[n], value)))
        for n, (name, value) in enumerate(zip(PARAMETERS, values, strict=False))
    }


def _deviations(cost: Callable[[Floats], float], at: Floats, step: float = 1e-3) -> Floats:
    """Return the standard deviations of logits, from the curvature of the likelihood; infinite where flat."""
    size = at.size
    curvature = np.zeros((size, size))
    moves = np.eye(size) * step
    for i in range(size):
        for j in range(i, size):
            ends = (cost(at + a * moves[i] + b * moves[j]) * a * b for a in (1, -1) for b in (1, -1))
            curvature[i, j] = curvature[j, i] = sum(ends) / (4 * step * step)
    try:
        variances = np.diag(np.linalg.inv(curvature))
    except np.linalg.LinAlgError:
        variances = np.full(size, -1.0)
    return np.where(variances > 0, np.sqrt(np.abs(variances)), np.inf)
