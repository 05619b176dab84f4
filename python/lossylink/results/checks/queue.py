"""Check 3: whether a queue formed where the experiment claims none."""

from __future__ import annotations

from lossylink.results.checks.evidence import FlowEvidence
from lossylink.results.checks.verdict import Check, Thresholds, failed, not_applicable, passed

MEND = "raise the bottleneck's rate well above what the flow reaches"


def check_queue(evidence: FlowEvidence, thresholds: Thresholds) -> Check:
    """Hold the mean round trip against the shortest one, and look for drops by the queue (trap 3).

    A mean above the minimum is no queue when the backend saw the queue all but empty: delayed ACKs and
    interrupt timers lengthen round trips too, above all those of small windows.
    """
    name = "queue"
    if not evidence.queueless:
        return not_applicable(name, "a queue is part of this experiment")
    if evidence.queue_drops:
        return failed(name, f"{evidence.queue_drops} frames dropped by a full queue: {MEND}")
    mean, shortest = evidence.rtt_mean_ms, evidence.rtt_min_ms
    if mean is None or shortest is None:
        return not_applicable(name, "round-trip times were not measured")
    told = f"mean RTT {mean:.4g} ms is {mean / shortest:.3f} times the minimum of {shortest:.4g} ms"
    limit = thresholds.rtt_inflation_at_most
    if mean <= limit * shortest:
        return passed(name, f"{told}, at most {limit:g}")
    waiting = _longest_wait_ms(evidence)
    if waiting is not None and waiting <= (limit - 1) * shortest:
        return passed(name, f"{told}, but no frame waited longer than {waiting:.3g} ms: ACKs were delayed")
    seen = "" if waiting is None else f", and frames waited up to {waiting:.3g} ms"
    return failed(name, f"{told}, more than {limit:g}{seen}: a queue forms; {MEND}")


def _longest_wait_ms(evidence: FlowEvidence) -> float | None:
    """How long the last byte of the fullest queue waited, where the backend measured the queue."""
    if evidence.queue_bytes_max is None or evidence.link_rate_bps is None:
        return None
    return evidence.queue_bytes_max * 8 * 1e3 / evidence.link_rate_bps
