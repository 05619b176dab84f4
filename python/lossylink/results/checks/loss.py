"""Checks 1 and 2: whether the loss ratio was the one asked for, and the run long enough to tell."""

from __future__ import annotations

import math

from lossylink._native import binomial_interval
from lossylink.results.checks.evidence import FlowEvidence
from lossylink.results.checks.verdict import Check, Thresholds, failed, not_applicable, passed

PERCENT = 100
"""Between a ratio and its percentage."""


def check_loss_ratio(evidence: FlowEvidence, thresholds: Thresholds) -> Check:
    """Hold the requested loss ratio against the binomial interval of the realised one (trap 1)."""
    name = "loss_ratio"
    requested, offered, lost = evidence.requested_loss_ratio, evidence.frames_offered, evidence.frames_lost
    if requested is None or not offered or lost is None:
        return not_applicable(name, "frames offered and lost were not counted")
    if not evidence.loss_is_independent:
        return not_applicable(name, "losses are not independent, so the binomial interval does not hold")
    if lost > offered:
        return failed(name, f"{lost} of {offered} frames lost: read both counters at the same instant")
    confidence = thresholds.loss_ratio_confidence
    low, high = binomial_interval(lost, offered, confidence)
    seen = f"{lost} of {offered} frames lost, {percent(lost / offered)}"
    if low <= requested <= high:
        return passed(name, f"{seen}; requested {percent(requested)}")
    range_seen = f"{confidence * PERCENT:g} % interval {percent(low)} to {percent(high)}"
    cause = _likely_cause(requested, low, high)
    return failed(name, f"requested {percent(requested)} but {seen} ({range_seen}); {cause}")


def _likely_cause(requested: float, low: float, high: float) -> str:
    """Name the mistake whose loss ratio the interval holds; from 0 up it may be that nothing is ever lost."""
    if low == 0:
        return "is the loss set on the direction that the data takes, and written in the unit meant?"
    if low <= requested / PERCENT <= high:
        return f"a ratio was entered where a percentage is meant: write {requested * PERCENT:g}%"
    if low <= requested * PERCENT <= high:
        return f"a percentage was entered where a ratio is meant: write {requested:g}"
    return "check the loss process of the link, and look for losses that the experiment did not ask for"


def check_duration(evidence: FlowEvidence, thresholds: Thresholds) -> Check:
    """Hold the losses that the run should have seen against the fewest that mean something (trap 2)."""
    name = "duration"
    requested, offered, duration = evidence.requested_loss_ratio, evidence.frames_offered, evidence.duration_s
    if requested is None or offered is None or duration is None:
        return not_applicable(name, "frames offered or the duration were not measured")
    if requested == 0:
        return not_applicable(name, "no loss was requested")
    expected, needed = requested * offered, thresholds.expected_losses_at_least
    told = f"{offered} frames in {duration:.4g} s at {percent(requested)} make {expected:.3g} expected losses"
    if expected >= needed:
        return passed(name, f"{told}, at least {needed:g}")
    longer = _duration_needed_s(evidence, requested, expected, duration, needed)
    return failed(name, f"{told}, fewer than {needed:g}: run for at least {_at_least(longer)} s")


def _at_least(seconds: float) -> str:
    """Write a time in whole seconds, or one below ten with two digits, of which the last is rounded up.

    Examples
    --------
    >>> _at_least(479.6), _at_least(0.0491), _at_least(9.91), _at_least(math.inf)
    ('480', '0.05', '10', 'inf')
    """
    if not 0 < seconds < 10:
        return f"{seconds:.0f}"
    digit = 10.0 ** (math.floor(math.log10(seconds)) - 1)
    return f"{math.ceil(seconds / digit) * digit:.2g}"


def _duration_needed_s(
    evidence: FlowEvidence, requested: float, expected: float, duration: float, needed: float
) -> float:
    """Scale the run by its own frame rate and by the rate that the loss law allows, and take the longer.

    A short run is mostly start-up, which sends faster than the flow will: its own rate alone promises
    too much.
    """
    by_own_rate = duration * needed / expected if expected else math.inf
    if evidence.rtt_min_ms is None:
        return by_own_rate
    from lossylink.theory import mathis  # numpy, which a run that is long enough does without

    window = float(mathis.window_segments(loss_ratio=min(requested, 0.999), constant=mathis.PERIODIC))
    by_law = needed / requested / window * evidence.rtt_min_ms / 1e3
    return by_law if math.isinf(by_own_rate) else max(by_own_rate, by_law)


def percent(ratio: float) -> str:
    """Spell a ratio out both ways, so that nobody takes one for the other.

    Examples
    --------
    >>> percent(0.1566)
    '15.66 % (0.1566)'
    """
    return f"{ratio * PERCENT:.4g} % ({ratio:.4g})"
