"""Six methodology checks for every experiment with a TCP flow, simulated or live, and three for other runs.

Each catches one published mistake of a student's reproduction study and says what to change. They are
pure functions of `FlowEvidence`: `run_checks(evidence_from(row, scenario))`.

| check | the mistake that it catches |
|---|---|
| `loss_ratio` | a ratio entered where a percentage is meant: the realised loss is not the requested one |
| `duration` | a run too short for its loss ratio |
| `queue` | a queue in an experiment that claims none |
| `mss` | TCP timestamps (or the MTU) shrink the segments |
| `mtu` | the MTU caps the segment size |
| `offload` | the interface joins segments into frames larger than one of them |

RDMA flows and the flows of a `workload` are judged by `check_connections(row)` alone: whether connections
died, or flows did not finish. A stress test in which a reorder buffer dropped frames is judged by
`check_reorder_buffer(row)`, and one in which repairs came late by `check_late_repairs(row)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from lossylink.results.checks.connections import check_connections
from lossylink.results.checks.evidence import FlowEvidence, evidence_from
from lossylink.results.checks.late_repairs import check_late_repairs
from lossylink.results.checks.loss import check_duration, check_loss_ratio
from lossylink.results.checks.queue import check_queue
from lossylink.results.checks.reasons import reasons
from lossylink.results.checks.render import MARKS, as_json, from_json, summary, table
from lossylink.results.checks.reorder_buffer import check_reorder_buffer
from lossylink.results.checks.segment import check_mss, check_mtu, check_offload
from lossylink.results.checks.verdict import Check, Status, Thresholds

CHECKS: Final[Mapping[str, Callable[[FlowEvidence, Thresholds], Check]]] = {
    "loss_ratio": check_loss_ratio,
    "duration": check_duration,
    "queue": check_queue,
    "mss": check_mss,
    "mtu": check_mtu,
    "offload": check_offload,
}
"""Every check by its name, in the order in which the traps are met."""


def run_checks(evidence: FlowEvidence, thresholds: Thresholds | None = None) -> list[Check]:
    """Judge one flow by all six checks.

    Examples
    --------
    >>> outcome = run_checks(FlowEvidence(requested_mss_bytes=4312, mtu_bytes=1500))
    >>> [check.name for check in outcome if check.failed]
    ['mtu']
    """
    limits = thresholds or Thresholds()
    return [check(evidence, limits) for check in CHECKS.values()]


def any_failed(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a check of any row failed: what `--strict` turns into a non-zero exit.

    Parameters
    ----------
    rows
        Result rows; one without a `checks` entry has nothing that could fail.

    Examples
    --------
    >>> any_failed([{"checks": {"mss": {"passed": False, "message": "MSS 1448 B instead of 1460 B"}}}])
    True
    """
    return any(entry["passed"] is False for row in rows for entry in (row.get("checks") or {}).values())


__all__ = [
    "CHECKS",
    "MARKS",
    "Check",
    "FlowEvidence",
    "Status",
    "Thresholds",
    "any_failed",
    "as_json",
    "check_connections",
    "check_late_repairs",
    "check_reorder_buffer",
    "evidence_from",
    "from_json",
    "reasons",
    "run_checks",
    "summary",
    "table",
]
