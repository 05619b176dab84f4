"""Plans a link: every protection with its best parameters, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lossylink.errors import UserError
from lossylink.planning.link import Link
from lossylink.planning.prediction import Prediction
from lossylink.planning.stress import by_simulation
from lossylink.planning.transport import FLOW_BYTES, NAMES, Carried, Transport, best_carried, carry
from lossylink.protections import families, keeps_order


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Predictions for a link, and which protection to take."""

    link: Link
    target: float
    budget_us: float | None
    predictions: tuple[Prediction, ...]
    recommended: str
    """The protection to take: it meets target and budget."""
    reason: str
    """Why, in a sentence."""
    transport: Transport | None = None
    carried: tuple[Carried, ...] = ()
    """What flows of the transport make of each protection."""

    def rows(self) -> list[dict[str, Any]]:
        """One row of plain values a protection."""
        rows = [
            prediction.row(target=self.target, budget_us=self.budget_us) for prediction in self.predictions
        ]
        flows = {one.protection: one.row() for one in self.carried}
        return [
            row | flows.get(row["protection"], {}) | {"recommended": row["protection"] == self.recommended}
            for row in rows
        ]


def plan(
    link: Link,
    *,
    target: float,
    budget_us: float | None = None,
    transport: Transport | None = None,
    flow_bytes: int = FLOW_BYTES,
    progress: Callable[[float, float], None] | None = None,
) -> Plan:
    """Predict what every protection does for a link, each with the parameters that suit it best.

    Parameters
    ----------
    link
        The link, its loss and its switches.
    target
        Effective loss ratio to reach, above 0 and below 1.
    budget_us
        Longest wait that recovery may add, in microseconds; none when not given.
    transport
        Whose flows the link carries. They are simulated over each protection, which takes seconds, and their
        completion times choose; without it the speed of the link does.
    flow_bytes
        Payload of such a flow.
    progress
        Called with the work done and the whole work.

    Raises
    ------
    UserError
        When no protection meets what is asked for: the message names the best.

    Examples
    --------
    >>> link = Link(rate_bps=10**11, propagation_ps=500_000, loss_ratio=1e-3)
    >>> plan(link, target=1e-8).recommended
    'lg-nb:copies=2'
    """
    if not 0 < target < 1:
        raise UserError(f"a target of {target:g} is not a loss ratio between 0 and 1")
    if budget_us is not None and budget_us <= 0:
        raise UserError(f"a latency budget of {budget_us:g} us allows nothing; give more than 0")
    predictions = tuple(
        by_simulation(link, prediction) if link.is_listed else prediction
        for family in families()
        for prediction in family.plan(link, target=target, budget_us=budget_us)
    )
    meeting = _meeting(link, predictions, target, budget_us)
    if transport is None:
        fastest = max(meeting, key=lambda one: one.effective_speed_gbps.value or 0.0)
        carried: tuple[Carried, ...] = ()
        chosen, reason = fastest, _reason_by_speed(fastest, meeting)
    else:
        carried = carry(link, predictions, transport, flow_bytes=flow_bytes, progress=progress)
        chosen = best_carried(meeting, carried)
        reason = _reason_by_flows(chosen, meeting, carried, NAMES[transport], flow_bytes)
    return Plan(
        link=link,
        target=target,
        budget_us=budget_us,
        predictions=predictions,
        recommended=chosen.protection,
        reason=reason,
        transport=transport,
        carried=carried,
    )


def _reason_by_speed(chosen: Prediction, meeting: Sequence[Prediction]) -> str:
    """Why the fastest link is taken, and what that leaves out."""
    speed = chosen.effective_speed_gbps.value or 0.0
    words = f"it is the fastest of {len(meeting)} that meet what is asked for, {speed:.4g} Gb/s"
    if len(meeting) == 1:
        words = "nothing else meets what is asked for"
    if keeps_order(chosen.protection):
        return words
    return f"{words}; it delivers out of order, which transports may take for loss: --transport tries yours"


def _reason_by_flows(
    chosen: Prediction,
    meeting: Sequence[Prediction],
    carried: Sequence[Carried],
    transport: str,
    flow_bytes: int,
) -> str:
    """How quick flows are over the choice, and over the fastest link where that is another."""
    times = {one.protection: one for one in carried}
    fastest = max(meeting, key=lambda one: one.effective_speed_gbps.value or 0.0)
    own = times[chosen.protection].fct_us_p99
    words = f"99 of 100 {transport} flows of {flow_bytes / 1e6:g} MB end within {own:,.0f} us"
    if fastest is chosen:
        return f"{words}, and of the links with flows as quick it is the fastest"
    other = times[fastest.protection].fct_us_p99
    return f"{words}; over {fastest.protection}, the fastest link, it is {other:,.0f} us"


def _meeting(
    link: Link, predictions: tuple[Prediction, ...], target: float, budget_us: float | None
) -> list[Prediction]:
    """Those that meet everything; in order comes first and wins a tie."""
    meeting = [p for p in predictions if p.meets(target=target) and p.keeps(budget_us=budget_us)]
    if meeting:
        return meeting
    within = [p for p in predictions if p.keeps(budget_us=budget_us)]
    best = min(within, key=lambda p: p.effective_loss_ratio.value or 0.0)
    budget = f" within {budget_us:g} us" if budget_us is not None else ""
    raise UserError(
        f"no protection reaches {target:g} at {link.loss_ratio * 100:g} % loss on this link{budget}; "
        f"the best is {best.protection} with {best.effective_loss_ratio.value:.3g}"
    )
