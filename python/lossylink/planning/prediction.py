"""What is predicted for one protection: figures, each with how far it is to be trusted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from lossylink import _native
from lossylink.statistics import CONFIDENCE

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

METHODS: Final = {EXACT: "closed form", CHAIN: "chain", BOUND: "bound", SIMULATED: "simulated"}
"""How a row says where its effective loss is from."""

NONE_SEEN: Final = -math.log((1 - CONFIDENCE) / 2)
"""Events that a run without one allows, at the upper end of that interval: 3.69."""

SETTLED: Final = 0.9
"""Chance with which a run that is made longer for a target shows it, if its loss is as predicted."""

MOST_EVENTS: Final = 100
"""Of a run that is made longer: with more of them the run without more length tells as well."""

_BATCHES: Final = 64
"""Batches that a run is counted in (`BATCHES` of ``crates/core/src/binomial.rs``)."""

KEYS: Final = (
    "effective_loss_ratio",
    "effective_speed_gbps",
    "added_latency_us_typical",
    "added_latency_us_worst",
    "sender_buffer_kb",
    "receiver_buffer_kb",
)
"""The predicted quantities, in the order in which they are shown."""

HEADS: Final = {
    "effective_loss_ratio": ("lost", "ratio"),
    "effective_speed_gbps": ("speed", "Gb/s"),
    "added_latency_us_typical": ("delay", "typical us"),
    "added_latency_us_worst": ("delay", "worst us"),
    "sender_buffer_kb": ("Tx buffer", "KB"),
    "receiver_buffer_kb": ("Rx buffer", "KB"),
}
"""The label of each predicted quantity, and what it is measured in."""

VERDICTS: Final = {True: "yes", False: "no", None: "not testable"}
"""How a table says whether a protection meets what was asked for."""


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
    frames_run: int = 0
    """Frames of the run behind the loss; none without one."""
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


def frames_showing(target: float, *, expected: float, most: int, together: float = 1.0) -> int:
    """Return the frames of a run that shows a target, or 0 where no run of at most ``most`` frames could.

    The run is the shortest that shows the target with a chance of `SETTLED`, or has the best chance. It shows
    it with so few events that the upper end of their interval is at most the target.

    Parameters
    ----------
    target
        Loss ratio that the upper end of the interval is to reach.
    expected
        Loss ratio that is expected.
    most
        Frames of the longest run.
    together
        Frames that are lost in one event.

    Examples
    --------
    >>> frames_showing(3e-6, expected=0.0, most=2_000_000)
    1229626
    >>> frames_showing(3e-6, expected=1e-7, most=2_000_000)
    1907737
    >>> frames_showing(1e-8, expected=0.0, most=2_000_000)
    0
    """
    together = max(1.0, together)
    best, chance = 0, 0.0
    for events in range(MOST_EVENTS):
        frames = math.ceil(_upper_end(events, most, together) * most / target)
        if frames > most or chance >= SETTLED:
            break
        no_more = _at_most(events, expected * frames / together)
        if no_more > chance:
            best, chance = frames, no_more
    return best


def _at_most(events: int, mean: float) -> float:
    """Return the chance of no more Poisson events than so many."""
    term = total = math.exp(-mean)
    for count in range(1, events + 1):
        term *= mean / count
        total += term
    return total


def _upper_end(events: int, frames: int, together: float) -> float:
    """Return the upper end of the interval of a run with so many events, as a row has it."""
    batches = _BATCHES if events else 0
    return _native.clustered_interval(round(events * together), frames, together, batches, CONFIDENCE)[1]


def is_within(loss_ratio: float, target: float) -> bool:
    """Whether a loss is at most a target.

    Copies are counted with the same slack, so that 1e-4 squared meets 1e-8.
    """
    return loss_ratio <= target * (1 + 1e-9)
