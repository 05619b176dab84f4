"""No protection: what the link corrupts stays lost. The baseline of every comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lossylink.declared.protections._family import Family, Look, Spelling

if TYPE_CHECKING:
    from lossylink.planning.link import Link
    from lossylink.planning.prediction import Prediction


class _None(Family):
    tag = "none"
    order = 0
    spellings = (
        Spelling(
            word="none",
            name="no protection",
            meaning="the bare link",
            also=("off", "plain", "unprotected", "baseline"),
            look=Look(slot="vermillion"),
        ),
    )
    protects = False

    def value(
        self, spelling: Spelling, argument: Mapping[str, Any], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        del spelling, argument, options
        return {"family": self.tag}

    def spell(self, value: Mapping[str, Any]) -> str:
        del value
        return "none"

    def load_share(self, value: Mapping[str, Any], *, loss_ratio: float, frame_wire_bytes: int) -> float:
        del value, loss_ratio, frame_wire_bytes
        return 1.0

    def residual_loss(
        self, value: Mapping[str, Any], *, loss_ratio: float, reverse_loss_ratio: float | None = 0.0
    ) -> float:
        del value, reverse_loss_ratio
        return loss_ratio

    def plan(self, link: Link, *, target: float, budget_us: float | None) -> Iterable[Prediction]:
        del target, budget_us
        from lossylink.planning.losses import mean_run
        from lossylink.planning.prediction import (  # the planner, which few need
            CHAIN,
            EXACT,
            Figure,
            Prediction,
        )

        def at(loss_ratio: float) -> tuple[float, float]:
            return loss_ratio, link.rate_bps * (1 - loss_ratio) / 1e9

        loss, speed = at(link.loss_ratio)
        chain = link.chain
        nothing = Figure(None)
        yield Prediction(
            protection="none",
            effective_loss_ratio=Figure(loss, EXACT if chain is None else CHAIN),
            effective_speed_gbps=Figure(speed, EXACT),
            added_latency_us_typical=nothing,
            added_latency_us_worst=nothing,
            sender_buffer_kb=nothing,
            receiver_buffer_kb=nothing,
            lost_together=mean_run(link),
            at=at,
        )


FAMILY = _None()
