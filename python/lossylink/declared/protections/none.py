"""No protection: what the link corrupts stays lost. The baseline of every comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lossylink.declared.protections._family import Family, Look, Spelling


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


FAMILY = _None()
