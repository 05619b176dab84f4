"""What is predicted for one protection: figures, each with how far it is to be trusted."""

from __future__ import annotations

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
    """The interval of a simulated loss at 95 %, losses that come together counted as one event."""
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
    at: Callable[[float], tuple[float, float]] = field(compare=False, repr=False)
    """Effective loss ratio, and effective speed in Gb/s, at another loss ratio with the same parameters."""

    def figure(self, key: str) -> Figure:
        """The figure called ``key``, one of `KEYS`."""
        figure: Figure = getattr(self, key)
        return figure

    def row(self, *, target: float, budget_us: float | None) -> dict[str, Any]:
        """A row of plain values: the figures, whether they meet what was asked for, and their validation."""
        values = {key: self.figure(key).value for key in KEYS}
        marks = {key: self.figure(key).validation for key in KEYS if values[key] is not None}
        loss = self.effective_loss_ratio
        method = {"loss_method": METHODS[loss.validation], "loss_low": loss.low, "loss_high": loss.high}
        meets = {"meets_target": self.meets(target=target), "meets_budget": self.keeps(budget_us=budget_us)}
        return {"protection": self.protection, **values, **method, **meets, "validation": marks}

    def meets(self, *, target: float) -> bool:
        """Whether few enough frames stay lost."""
        loss = self.effective_loss_ratio.value
        # Copies are counted with the same slack, so that 1e-4 squared meets 1e-8.
        return loss is not None and loss <= target * (1 + 1e-9)

    def keeps(self, *, budget_us: float | None) -> bool:
        """Whether the longest wait fits the budget."""
        worst = self.added_latency_us_worst.value
        return budget_us is None or worst is None or worst <= budget_us
