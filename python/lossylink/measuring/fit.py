"""The loss model of a record: independent losses, or the smallest Gilbert-Elliott chain that explains them.

Chains are fitted by maximum likelihood. Whether losses come in bursts at all is a likelihood ratio test
against independent losses. Whether the model fits is a chi-square test of the lengths of runs and gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy import optimize, special, stats

from lossylink.errors import UserError
from lossylink.measuring.likelihood import Floats, gap_survival, log_likelihood, run_survival
from lossylink.measuring.record import Counts, Record
from lossylink.scenario.loss import Loss, parse_loss
from lossylink.statistics import CONFIDENCE, Estimate, binomial_interval, zero_events_upper_bound
from lossylink.theory.bursts import Chain

FEWEST_RUNS: Final = 10
"""Runs of losses below which nothing is said about bursts."""

DOUBT: Final = 0.01
"""Chance of error below which independence, or a fit, is rejected."""

LEAST_EXPECTED: Final = 5.0
"""Runs or gaps that a cell of the chi-square test has to expect (Cochran's rule); smaller ones are merged."""

MOST_CELLS: Final = 20
"""Cells for the lengths of runs, and as many for those of gaps."""

#: Logits beyond this are chances of 0 and 1 for any record that fits into memory.
_FARTHEST = 30.0
#: How a search climbs: slopes over steps that rounding does not drown, and an end where little is gained.
_CLIMB: Final[Any] = {"eps": 1e-5, "gtol": 1e-2, "maxiter": 100}
#: Names of the parameters of a chain, in the order in which models add them.
PARAMETERS: Final = ("p", "r", "bad", "good")
Report = Callable[[float, float], None]


@dataclass(frozen=True)
class Goodness:
    """A chi-square test of the lengths of runs and gaps against a model."""

    chi_square: float
    degrees: int
    p_value: float


@dataclass(frozen=True)
class Fit:
    """What a record says of a link's losses."""

    frames: int
    """Frames sent."""
    losses: int
    """Frames lost."""
    loss: Loss
    """The model, as ``--set loss=`` takes it."""
    ratio: Estimate
    """Share of frames lost; after no loss the upper end is one-sided."""
    mean_run_frames: float | None
    """Mean length of a run of losses along the model."""
    parameters: dict[str, Estimate]
    """Of the chain: p and r, bad and good where they are not 1 and 0; none of independent losses."""
    likelihood_ratio: float | None
    """Twice the gain in log likelihood of the best chain over independent losses."""
    p_value: float | None
    """Chance of such a gain if losses are independent; nothing when too few losses tell."""
    goodness: Goodness | None
    verdict: str
    """What this means, in a sentence."""


def fit(record: Record, *, report: Report | None = None) -> Fit:
    """Return the loss model of a record.

    Parameters
    ----------
    record
        At least one frame.
    report
        Called with the work done and the whole work.

    Raises
    ------
    UserError
        When the record is empty.

    Examples
    --------
    >>> nothing = fit(Record.of([False] * 1000))
    >>> nothing.loss.spelling, f"{nothing.ratio.high:.4f}", nothing.verdict
    ('none', '0.0030', 'no frame of 1,000 was lost')
    """
    if record.frames == 0:
        raise UserError("a record of no frames tells nothing; measure for longer")
    few = f"{record.losses} losses in {record.runs.size} runs are too few to tell bursts"
    plain = counted(frames=record.frames, losses=record.losses, verdict=f"{few}; taken as independent")
    if record.runs.size < FEWEST_RUNS:
        return plain
    share = record.losses / record.frames
    candidates = _candidates(record, share, report or (lambda _done, _whole: None))
    memoryless = Chain.without_memory(share)
    base = log_likelihood(memoryless, record)
    gains = [max(0.0, 2 * (one.likelihood - base)) for one in candidates]
    # Each chain has one parameter more than the one before. Three tests are made, so the least chance counts
    # thrice (Bonferroni).
    chances = [float(stats.chi2.sf(gain, one.free - 1)) for gain, one in zip(gains, candidates, strict=True)]
    p_value = min(1.0, len(chances) * min(chances))
    if p_value >= DOUBT:
        goodness = _goodness(memoryless, record, free=1)
        verdict = _verdict("losses are independent as far as the record tells", goodness)
        return replace(
            plain,
            mean_run_frames=memoryless.mean_run,
            likelihood_ratio=max(gains),
            p_value=p_value,
            goodness=goodness,
            verdict=verdict,
        )
    best = min(candidates, key=lambda one: one.free * np.log(record.frames) - 2 * one.likelihood)
    goodness = _goodness(best.chain, record, free=best.free)
    return Fit(
        frames=record.frames,
        losses=record.losses,
        loss=parse_loss(spelling(best.chain)),
        ratio=_bursty_ratio(record, best.chain),
        mean_run_frames=best.chain.mean_run,
        parameters=_intervals(best, record),
        likelihood_ratio=max(gains),
        p_value=p_value,
        goodness=goodness,
        verdict=_verdict("losses come in bursts", goodness),
    )


def counted(*, frames: int, losses: int, verdict: str) -> Fit:
    """Return what two counts say: independent losses, since nothing tells bursts.

    Examples
    --------
    >>> counted(frames=1000, losses=10, verdict="by counters").loss.spelling
    '0.01'
    """
    if losses == 0:
        ratio = Estimate(0.0, 0.0, min(1.0, zero_events_upper_bound(frames)))
        loss, verdict = Loss("none", {"model": "none"}), f"no frame of {frames:,} was lost"
    else:
        ratio, loss = binomial_interval(losses, frames), parse_loss(f"{losses / frames:.6g}")
    return Fit(frames, losses, loss, ratio, None, {}, None, None, None, verdict)


def _verdict(words: str, goodness: Goodness | None) -> str:
    if goodness is None:
        return f"{words}; too few runs to test the fit"
    if goodness.p_value >= DOUBT:
        return f"{words}, and the model fits their lengths (p = {goodness.p_value:.2g})"
    return f"{words}, but the model does not fit their lengths (p = {goodness.p_value:.2g}): replay the trace"


def spelling(chain: Chain) -> str:
    """Return a chain as ``--set loss=`` takes it, to six digits.

    Examples
    --------
    >>> spelling(Chain(to_bad=1e-4, to_good=0.25)), spelling(Chain(to_bad=0.1, to_good=0.5, loss_bad=0.5))
    ('gilbert-elliott:0.0001,0.25', 'gilbert-elliott:0.1,0.5,0.5')
    """
    values = [chain.to_bad, chain.to_good, chain.loss_bad, chain.loss_good]
    while len(values) > 2 and values[-1] == (1.0, 0.0)[len(values) - 3]:
        values.pop()
    return "gilbert-elliott:" + ",".join(f"{value:.6g}" for value in values)


@dataclass(frozen=True)
class _Candidate:
    """A chain and how likely the record is along it; ``free`` parameters were chosen by the record."""

    chain: Chain
    free: int
    likelihood: float


def _candidates(record: Record, share: float, report: Report) -> list[_Candidate]:
    """Return the best chain of each kind: with p and r alone, with bad as well, with good as well."""
    stay, leave = record.losses - record.runs.size, record.runs.size
    clear = record.frames - record.losses
    simple = Chain(
        to_bad=min(1.0, leave / max(1, clear)), to_good=leave / (stay + leave), loss_bad=1.0, loss_good=0.0
    )
    found = [_Candidate(simple, 2, log_likelihood(simple, record))]
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


def _climb(record: Record, free: int, start: Chain) -> _Candidate:
    """Climb from a chain to the most likely one in reach, along the logits of its parameters."""

    def cost(logits: Floats) -> float:
        return -log_likelihood(_chain(logits), record)

    chain = _chain(optimize.minimize(cost, _logits(start, free), method="BFGS", options=_CLIMB).x)
    return _Candidate(chain, free, log_likelihood(chain, record))


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


def _values(chain: Chain, free: int) -> list[float]:
    return [chain.to_bad, chain.to_good, chain.loss_bad, chain.loss_good][:free]


def _logits(chain: Chain, free: int) -> Floats:
    # A start at 0 or 1 would have no slope to climb along.
    inside = np.clip(_values(chain, free), 1e-9, 1 - 1e-3)
    return np.asarray(special.logit(inside))


def _intervals(best: _Candidate, record: Record) -> dict[str, Estimate]:
    """Return the parameters of a chain with their intervals."""
    if best.free == 2:
        leave, stay = int(record.runs.size), record.losses - int(record.runs.size)
        entered = binomial_interval(leave, max(leave, record.frames - record.losses))
        return {"p": entered, "r": binomial_interval(leave, leave + stay)}
    at = _logits(best.chain, best.free)
    deviation = _deviations(lambda logits: -log_likelihood(_chain(logits), record), at)
    half = deviation * float(special.ndtri((1 + CONFIDENCE) / 2))
    low, high = special.expit(at - half), special.expit(at + half)
    values = _values(best.chain, best.free)
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


def _bursty_ratio(record: Record, chain: Chain) -> Estimate:
    """Return the loss ratio with an exact binomial interval of as many frames as would tell as much.

    The variance of the number of losses is larger than that of independent ones by a factor of the chain.
    """
    share, factor = record.losses / record.frames, max(1.0, chain.dispersion)
    losses, frames = record.losses / factor, record.frames / factor
    tail = (1 - CONFIDENCE) / 2
    low = special.betaincinv(losses, frames - losses + 1, tail)
    high = special.betaincinv(losses + 1, max(frames - losses, 1e-9), 1 - tail)
    return Estimate(share, float(low), float(high))


def _goodness(chain: Chain, record: Record, *, free: int) -> Goodness | None:
    """Compare the lengths of runs and gaps with what the chain expects; nothing when there are too few."""
    parts = [_cells(record.runs, chain, run_survival), _cells(record.inner_gaps, chain, gap_survival)]
    seen, expected = (np.concatenate(one) for one in zip(*parts, strict=True))
    degrees = len(seen) - 2 - free
    if degrees < 1:
        return None
    chi_square = float(((seen - expected) ** 2 / expected).sum())
    return Goodness(chi_square, degrees, float(stats.chi2.sf(chi_square, degrees)))


def _cells(
    lengths: Counts, chain: Chain, survival: Callable[[Chain, Counts], Floats]
) -> tuple[Floats, Floats]:
    """Return how many lengths fall in each cell, and how many should; cells expect about the same."""
    total = lengths.size
    edges = np.unique(np.geomspace(1, 2 * int(lengths.max()) + 10, 2000).astype(np.int64))
    beyond = survival(chain, edges) * total
    wanted = max(LEAST_EXPECTED, total / MOST_CELLS)
    cuts = [0]
    for at in range(1, edges.size):
        if beyond[cuts[-1]] - beyond[at] >= wanted and beyond[at] >= LEAST_EXPECTED:
            cuts.append(at)
    begins, reach = edges[cuts], beyond[cuts]
    seen = np.bincount(np.searchsorted(begins, lengths, side="right") - 1, minlength=len(cuts))
    return seen.astype(np.float64), reach - np.append(reach[1:], 0.0)


def figures(found: Fit) -> dict[str, Any]:
    """Return what a record says, as JSON."""
    goodness = found.goodness
    return {
        "frames_sent": found.frames,
        "frames_lost": found.losses,
        "loss_ratio": found.ratio.value,
        "loss_ratio_low": found.ratio.low,
        "loss_ratio_high": found.ratio.high,
        "confidence": CONFIDENCE,
        "loss": found.loss.spelling,
        "mean_run_frames": found.mean_run_frames,
        "parameters": {
            name: {"value": one.value, "low": one.low, "high": one.high}
            for name, one in found.parameters.items()
        },
        "likelihood_ratio": found.likelihood_ratio,
        "independence_p_value": found.p_value,
        "goodness_chi_square": goodness.chi_square if goodness else None,
        "goodness_degrees": goodness.degrees if goodness else None,
        "goodness_p_value": goodness.p_value if goodness else None,
        "verdict": found.verdict,
    }
