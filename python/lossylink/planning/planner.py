"""Plans a link: every protection with its best parameters, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lossylink.errors import UserError
from lossylink.planning.link import Link
from lossylink.planning.prediction import Prediction
from lossylink.planning.stress import by_simulation
from lossylink.protections import families


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Predictions for a link, and which protection to take."""

    link: Link
    target: float
    budget_us: float | None
    predictions: tuple[Prediction, ...]
    recommended: str
    """The fastest protection that meets target and budget."""

    def rows(self) -> list[dict[str, Any]]:
        """One row of plain values a protection."""
        rows = [
            prediction.row(target=self.target, budget_us=self.budget_us) for prediction in self.predictions
        ]
        return [row | {"recommended": row["protection"] == self.recommended} for row in rows]


def plan(link: Link, *, target: float, budget_us: float | None = None) -> Plan:
    """Predict what every protection does for a link, each with the parameters that suit it best.

    Parameters
    ----------
    link
        The link, its loss and its switches.
    target
        Effective loss ratio to reach, above 0 and below 1.
    budget_us
        Longest wait that recovery may add, in microseconds; none when not given.

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
    return Plan(
        link=link,
        target=target,
        budget_us=budget_us,
        predictions=predictions,
        recommended=_recommend(link, predictions, target, budget_us).protection,
    )


def _recommend(
    link: Link, predictions: tuple[Prediction, ...], target: float, budget_us: float | None
) -> Prediction:
    """The fastest of those that meet everything; in order wins a tie."""
    meeting = [p for p in predictions if p.meets(target=target) and p.keeps(budget_us=budget_us)]
    if meeting:
        return max(meeting, key=lambda p: p.effective_speed_gbps.value or 0.0)
    within = [p for p in predictions if p.keeps(budget_us=budget_us)]
    best = min(within, key=lambda p: p.effective_loss_ratio.value or 0.0)
    budget = f" within {budget_us:g} us" if budget_us is not None else ""
    raise UserError(
        f"no protection reaches {target:g} at {link.loss_ratio * 100:g} % loss on this link{budget}; "
        f"the best is {best.protection} with {best.effective_loss_ratio.value:.3g}"
    )
