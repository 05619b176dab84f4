"""The loss model of a record: what kind of losses they are, and the smallest model that explains them.

Three questions are asked of a record, and each is a test of independent losses:

* do losses come in bursts, or apart: a likelihood ratio test against Gilbert-Elliott chains (`chains`);
* do they keep apart: the spread of their distances (`regularity`);
* do they repeat: a line in their spectrum (`regularity`).

Whether the model fits is a chi-square test of the lengths of runs and gaps (`goodness`). A model that does
not fit is not used: the record itself is replayed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np
from scipy import stats

from lossylink.declared.job import Progress
from lossylink.errors import UserError
from lossylink.measuring.chains import Candidate, candidates, parameter_intervals, values_of
from lossylink.measuring.goodness import Goodness, goodness_of
from lossylink.measuring.likelihood import log_likelihood
from lossylink.measuring.ratios import by_runs, by_visits, none_lost, of_record, share_of
from lossylink.measuring.record import Record
from lossylink.measuring.regularity import Repeating, kept_apart, repeating
from lossylink.scenario.loss import Loss, parse_loss
from lossylink.statistics import CONFIDENCE
from lossylink.statistics.estimates import Estimate
from lossylink.theory.bursts import Chain

FEWEST_RUNS: Final = 10
"""Runs of losses below which nothing is said about bursts."""

DOUBT: Final = 0.01
"""Chance of error below which independence, or a fit, is rejected."""

QUESTIONS: Final = 3
"""Tests of independence that are made: the chance of each counts so many times (Bonferroni)."""


NO_LOSS: Final = Loss("none", {"model": "none"})


class Kind(StrEnum):
    """What losses are like."""

    NONE_SEEN = "none seen"
    UNTOLD = "not told"
    """Too few runs of losses, or counters alone: taken as independent."""
    TOLD = "told"
    """By whoever makes the losses, such as netem."""
    INDEPENDENT = "independent"
    BURSTY = "bursty"
    APART = "kept apart"
    PERIODIC = "periodic"
    OTHER = "none of these"
    """Not independent, and no test says what else."""


class Evidence(StrEnum):
    """What decided."""

    LIKELIHOOD = "likelihood ratio"
    DISTANCES = "spread of distances"
    SPECTRUM = "line in the spectrum"
    LENGTHS = "lengths of runs and gaps"
    BATCHES = "differences between intervals"


@dataclass(frozen=True)
class Decision:
    """The kind of losses, the test that decided it, and its chance where nothing is the matter."""

    kind: Kind
    test: Evidence | None = None
    p_value: float | None = None
    """Of the test, times `QUESTIONS` where it is one of three."""
    period_frames: float | None = None


@dataclass(frozen=True)
class Fit:
    """What a record says of a link's losses."""

    frames: int
    """Frames sent."""
    losses: int
    """Frames lost."""
    loss: Loss
    """The model, as ``--set loss=`` takes it; one that `is_rejected` is the nearest, and no good."""
    ratio: Estimate
    """Share of frames lost; after no loss the upper end is one-sided."""
    decision: Decision
    verdict: str
    """What this means, in a sentence."""
    mean_run_frames: float | None = None
    """Mean length of a run of losses along the model."""
    parameters: dict[str, Estimate] = field(default_factory=dict)
    """Of the chain: p and r, bad and good where they are not 1 and 0; none of independent losses."""
    likelihood_ratio: float | None = None
    """Twice the gain in log likelihood of the best chain over independent losses."""
    p_value: float | None = None
    """Chance of such a gain if losses are independent; nothing when too few losses tell."""
    goodness: Goodness | None = None
    is_rejected: bool = False
    """Whether the losses are known not to be the model's: only the record itself will do."""


def fit(record: Record, *, report: Progress | None = None) -> Fit:
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
    >>> counter = fit(Record.of([False, False, False, False, True] * 1000))
    >>> counter.decision.kind, counter.decision.period_frames, counter.is_rejected
    (<Kind.PERIODIC: 'periodic'>, 5.0, True)
    """
    if record.frames == 0:
        raise UserError("a record of no frames tells nothing; measure for longer")
    few = f"{record.losses} losses in {record.runs.size} runs are too few to tell bursts"
    plain = counted(frames=record.frames, losses=record.losses, verdict=f"{few}; taken as independent")
    if record.runs.size < FEWEST_RUNS:
        return replace(plain, ratio=by_runs(record))
    period, memoryless = repeating(record), Chain.without_memory(record.losses / record.frames)
    if period is not None and QUESTIONS * period.p_value < DOUBT:
        chance = min(1.0, QUESTIONS * period.p_value)
        again = Decision(Kind.PERIODIC, Evidence.SPECTRUM, chance, period.period_frames)
        told = replace(plain, decision=again, is_rejected=True, ratio=of_record(record))
        return replace(told, verdict=_verdict(told))
    found = candidates(record, memoryless.loss_ratio, report or (lambda _done, _whole: None))
    base = log_likelihood(memoryless, record)
    gains = [max(0.0, 2 * (one.likelihood - base)) for one in found]
    # Each chain has one parameter more than the one before. Three tests are made, so the least chance counts
    # thrice (Bonferroni).
    chances = [float(stats.chi2.sf(gain, one.free - 1)) for gain, one in zip(gains, found, strict=True)]
    p_value = min(1.0, len(chances) * min(chances))
    best = min(found, key=lambda one: one.free * np.log(record.frames) - 2 * one.likelihood)
    if QUESTIONS * p_value >= DOUBT:
        best = Candidate(memoryless, 1, base)
    told = replace(plain, likelihood_ratio=max(gains), p_value=p_value)
    return _judged(told, best, record, period)


def _judged(told: Fit, best: Candidate, record: Record, period: Repeating | None) -> Fit:
    """Say what kind the losses are, and whether the best chain will do for them."""
    is_chain = best.free > 1
    goodness = goodness_of(best.chain, record, free=best.free)
    assert told.p_value is not None
    decision = _decided(told.p_value, best if is_chain else None, goodness, kept_apart(record), period)
    is_rejected = _is_misfit(goodness) or (decision.kind is Kind.APART and not is_chain)
    ratio = by_visits(record, best.chain) if best.free > 2 else by_runs(record)
    judged = replace(
        told,
        loss=parse_loss(spelling(best.chain)) if is_chain else told.loss,
        ratio=of_record(record) if is_rejected else ratio,
        decision=decision,
        mean_run_frames=best.chain.mean_run,
        parameters=parameter_intervals(best, record) if is_chain else {},
        goodness=goodness,
        is_rejected=is_rejected,
    )
    return replace(judged, verdict=_verdict(judged))


def _decided(
    p_value: float,
    best: Candidate | None,
    goodness: Goodness | None,
    apart: float,
    period: Repeating | None,
) -> Decision:
    """Return what kind losses without a period are; ``best`` is the chain that beats independent losses."""
    if QUESTIONS * apart < DOUBT:
        return Decision(Kind.APART, Evidence.DISTANCES, QUESTIONS * apart)
    if best is not None:
        kind = Kind.BURSTY if best.chain.fading > 0 else Kind.APART
        return Decision(kind, Evidence.LIKELIHOOD, QUESTIONS * p_value)
    if goodness is not None and _is_misfit(goodness):
        return Decision(Kind.OTHER, Evidence.LENGTHS, goodness.p_value)
    tests = [(p_value, Evidence.LIKELIHOOD), (apart, Evidence.DISTANCES)]
    tests += [] if period is None else [(period.p_value, Evidence.SPECTRUM)]
    chance, evidence = min(tests)
    return Decision(Kind.INDEPENDENT, evidence, min(1.0, QUESTIONS * chance))


def counted(*, frames: int, losses: int, verdict: str) -> Fit:
    """Return what two counts say: independent losses, since nothing tells bursts.

    Examples
    --------
    >>> counted(frames=1000, losses=10, verdict="by counters").loss.spelling
    '0.01'
    """
    if losses == 0:
        verdict = f"no frame of {frames:,} was lost"
        return Fit(frames, 0, NO_LOSS, none_lost(frames), Decision(Kind.NONE_SEEN), verdict)
    loss = parse_loss(f"{losses / frames:.6g}")
    return Fit(frames, losses, loss, share_of(losses, frames), Decision(Kind.UNTOLD), verdict)


def _verdict(found: Fit) -> str:
    """Say what kind losses are, by which test, and whether the model will do."""
    decision, goodness = found.decision, found.goodness
    if decision.kind is Kind.INDEPENDENT:
        words = "losses are independent as far as the record tells"
    elif decision.kind is Kind.OTHER:
        words = "losses are neither independent nor in bursts, and they neither keep apart nor repeat"
    else:
        words = f"losses {_WORDS[decision.kind]}"
        if decision.kind is Kind.PERIODIC:
            words += f" every {decision.period_frames:.6g} frames"
        words += f" ({decision.test}, {probability(decision.p_value or 0.0)})"
    if decision.kind is Kind.PERIODIC or (found.is_rejected and not _is_misfit(goodness)):
        return f"{words}, which no model here does: replay the trace"
    if goodness is None:
        return f"{words}; too few different lengths to test the fit"
    chance = probability(goodness.p_value)
    if decision.kind is Kind.OTHER:
        return f"{words}: no model here fits their lengths ({chance}): replay the trace"
    if _is_misfit(goodness):
        return f"{words}, but the model does not fit their lengths ({chance}): replay the trace"
    return f"{words}, and the model fits their lengths ({chance})"


_WORDS = {Kind.BURSTY: "come in bursts", Kind.APART: "keep apart", Kind.PERIODIC: "come again"}


def _is_misfit(goodness: Goodness | None) -> bool:
    return goodness is not None and goodness.p_value < DOUBT


def probability(chance: float) -> str:
    """Spell a chance of a test to two digits; below what a float tells it is a bound.

    Examples
    --------
    >>> probability(0.5), probability(1e-40)
    ('p = 0.5', 'p < 1e-16')
    """
    return f"p = {chance:.2g}" if chance >= 1e-16 else "p < 1e-16"


def spelling(chain: Chain) -> str:
    """Return a chain as ``--set loss=`` takes it, to six digits.

    Examples
    --------
    >>> spelling(Chain(to_bad=1e-4, to_good=0.25)), spelling(Chain(to_bad=0.1, to_good=0.5, loss_bad=0.5))
    ('gilbert-elliott:0.0001,0.25', 'gilbert-elliott:0.1,0.5,0.5')
    """
    free = 4 if chain.loss_good != 0 else 3 if chain.loss_bad != 1 else 2
    values = values_of(chain, free)
    return "gilbert-elliott:" + ",".join(f"{value:.6g}" for value in values)


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
        "kind": str(found.decision.kind),
        "decided_by": None if found.decision.test is None else str(found.decision.test),
        "decided_p_value": found.decision.p_value,
        "period_frames": found.decision.period_frames,
        "loss": None if found.is_rejected else found.loss.spelling,
        "rejected_loss": found.loss.spelling if found.is_rejected else None,
        "mean_run_frames": found.mean_run_frames,
        "parameters": {name: one.as_json() for name, one in found.parameters.items()},
        "likelihood_ratio": found.likelihood_ratio,
        "independence_p_value": found.p_value,
        "goodness_chi_square": goodness.chi_square if goodness else None,
        "goodness_degrees": goodness.degrees if goodness else None,
        "goodness_p_value": goodness.p_value if goodness else None,
        "verdict": found.verdict,
    }
