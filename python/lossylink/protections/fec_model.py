"""The published switch model of forward error correction; the simulator alone has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lossylink.protections import fec
from lossylink.protections._family import Family, Observation, Spelling
from lossylink.protections._options import is_word, positive_time_ps

if TYPE_CHECKING:
    from lossylink.plan.link import Link


def _read_flush(value: object) -> int | None:
    return None if is_word(value, "auto", "off") else positive_time_ps(value)


class _FecModel(Family):
    tag = "fec-model"
    order = 30
    spellings = (
        Spelling(
            word="fec-model",
            name="FEC model",
            meaning="the switch model of the published FEC evaluation",
            argument=fec.CODE,
            # Its decoder knows one block at a time: data that pass its parity would end it.
            options=(replace(fec.FLUSH, read=_read_flush), fec.METER, fec.CHANGE),
        ),
    )
    is_live = False

    def value(
        self, spelling: Spelling, argument: Mapping[str, Any], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        del spelling
        return fec.code_value(self.tag, argument, options)

    def spell(self, value: Mapping[str, Any]) -> str:
        return f"fec-model:{value['k']}/{value['h']}"

    def load_share(self, value: Mapping[str, Any], *, loss_ratio: float, frame_wire_bytes: int) -> float:
        del loss_ratio
        return fec.code_share(value, frame_wire_bytes=frame_wire_bytes)

    def residual_loss(self, value: Mapping[str, Any], *, loss_ratio: float) -> float:
        return fec.code_residual_loss(value, loss_ratio=loss_ratio)

    def observe(self, link: Link, row: Mapping[str, Any]) -> Observation:
        del link
        return fec.code_observation(row)

    def parameters(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return fec.FAMILY.parameters(value)


FAMILY = _FecModel()
