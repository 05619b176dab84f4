"""What is predicted for one protection: figures, each with how far it is to be trusted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

EXACT: Final = "exact"
"""A closed form that the simulator meets within its statistics, tested at fifteen points and by --verify."""

CHAIN: Final = "chain"
"""Exact for losses in bursts: a Markov chain over the frames that are sent, with the assumptions that its
module names; the simulator meets it within its statistics."""

BOUND: Final = "bound"
"""An upper bound that no run of the simulator exceeded; typical values are lower."""

ESTIMATE: Final = "estimate"
"""A sum of mean delays: within 30 % of the simulator's median at 10 to 400 Gb/s."""

SIMULATED: Final = "simulated"
"""There is no closed form; a short run of the simulator, just now."""

METHODS: Final = {EXACT: "closed form", CHAIN: "chain", SIMULATED: "simulated"}
"""How a row says where its effective loss is from."""

CONFIDENCE: Final = 0.95
"""Of the interval of a simulated loss, two-sided."""

NONE_SEEN: Final = -math.log((1 - CONFIDENCE) / 2)
"""Events that a run without one allows, at the upper end of that interval: 3.69."""

KEYS: Final = (
    "effective_loss_ratio",
    "effective_speed_gbps",
    "added_latency_us_typical",
    "added_latency_us_worst",
    "sender_buffer_kb",
    "receiver_buffer_kb",
)
"""The predicted quantities, in the order in which they are shown."""


@dataclass(frozen=True)
class Figure:
    """A number, or none where the quantity does not apply, and how it was validated."""

    value: float | None
    validation: str = EXACT
    low: float | None = None
    """The interval of a simulated loss at 95 %, losses that come together counted as one event; of a closed
    form that leaves a cause out, from itself up to what a run allows of that cause."""
    high: float | None = None


@dataclass(frozen=True)
class Outline:
    """What closed forms alone say of a protection with its parameters chosen for a link."""

    protection: str
    """As `lossylink run` takes it."""
    loss_ratio: float
    """Frames that stay lost."""
    speed_gbps: float
    """Original octets delivered by a link that is kept busy."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """One protection with its parameters chosen for a link."""

    protection: str
    """As `lossylink run` takes it."""
    effective_loss_ratio: Figure
    """Frames that stay lost."""
    effective_speed_gbps: Figure
    """Original octets delivered by a link that is kept busy."""
    added_latency_us_typical: Figure
    """What a corrupted frame is late, from offer to delivery at line rate."""
    added_latency_us_worst: Figure
    """What any frame of a busy link is late at most, from offer to delivery, but for once in a million."""
    sender_buffer_kb: Figure
    """Memory for what may be sent again, or for parity."""
    receiver_buffer_kb: Figure
    """Memory for frames that wait, or that others are rebuilt from."""
    lost_together: float = 1.0
    """Frames that one event takes which recovery cannot undo: of a block, a window or a burst."""
    by_model: Figure | None = None
    """Effective loss by the model that was fitted to a recording, at the upper end of its loss."""
    at: Callable[[float], tuple[float, float]] = field(compare=False, repr=False)
    """Effective loss ratio, and effective speed in Gb/s, at another loss ratio with the same parameters."""

    def figure(self, key: str) -> Figure:
        """The figure called ``key``, one of `KEYS`."""
        figure: Figure = getattr(self, key)
        return figure

    def row(self, *, target: float, budget_us: float | None) -> dict[str, Any]:
        """A row of plain values: the figures, whether they meet what was asked for, and their validation.

        ``meets_target`` is null where the run behind the loss is too short to tell. Then ``frames_to_test``
        is how many frames without a loss would.
        """
        values = {key: self.figure(key).value for key in KEYS}
        marks = {key: self.figure(key).validation for key in KEYS if values[key] is not None}
        loss = self.effective_loss_ratio
        method = {"loss_method": self.loss_method, "loss_low": loss.low, "loss_high": loss.high}
        is_met = self.meets(target=target)
        meets = {"meets_target": is_met, "meets_budget": self.keeps(budget_us=budget_us)}
        more = {
            "frames_to_test": self.frames_to_test(target=target) if is_met is None else None,
            "loss_by_model": self.by_model.value if self.by_model else None,
        }
        return {"protection": self.protection, **values, **method, **meets, **more, "validation": marks}

    @property
    def loss_method(self) -> str:
        """Where the effective loss is from."""
        loss = self.effective_loss_ratio
        is_bounded = loss.validation != SIMULATED and loss.high is not None
        return METHODS[loss.validation] + (" and a run" if is_bounded else "")

    def meets(self, *, target: float) -> bool | None:
        """Whether few enough frames stay lost; nothing where a run behind it is too short to tell.

        A closed form meets the target or does not. An interval meets it if its upper end does, and fails it
        if its lower end does.
        """
        loss = self.effective_loss_ratio
        if loss.value is None:
            return False
        low, high = (loss.value if end is None else end for end in (loss.low, loss.high))
        if is_within(high, target):
            return True
        return None if is_within(low, target) else False

    def frames_to_test(self, *, target: float) -> float:
        """The frames that show the target, if none of them is lost: `NONE_SEEN` events over the target."""
        return NONE_SEEN * max(1.0, self.lost_together) / target

    def keeps(self, *, budget_us: float | None) -> bool:
        """Whether the longest wait fits the budget."""
        worst = self.added_latency_us_worst.value
        return budget_us is None or worst is None or worst <= budget_us


def is_within(loss_ratio: float, target: float) -> bool:
    """Whether a loss is at most a target.

    Copies are counted with the same slack, so that 1e-4 squared meets 1e-8.
    """
    return loss_ratio <= target * (1 + 1e-9)
