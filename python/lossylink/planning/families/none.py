"""What a bare link does: every loss stays, and nothing is late."""

from __future__ import annotations

from collections.abc import Iterable

from lossylink.planning.link import Link
from lossylink.planning.losses import mean_run
from lossylink.planning.prediction import CHAIN, EXACT, Figure, Prediction


def plan(link: Link, *, target: float, budget_us: float | None) -> Iterable[Prediction]:
    """Predict that what the link loses stays lost."""
    del target, budget_us

    def at(loss_ratio: float) -> tuple[float, float]:
        return loss_ratio, link.rate_bps * (1 - loss_ratio) / 1e9

    loss, speed = at(link.loss_ratio)
    nothing = Figure(None)
    yield Prediction(
        protection="none",
        effective_loss_ratio=Figure(loss, EXACT if link.chain is None else CHAIN),
        effective_speed_gbps=Figure(speed, EXACT),
        added_latency_us_typical=nothing,
        added_latency_us_worst=nothing,
        sender_buffer_kb=nothing,
        receiver_buffer_kb=nothing,
        lost_together=mean_run(link),
        at=at,
    )
