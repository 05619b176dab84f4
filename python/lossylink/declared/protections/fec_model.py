"""The published switch model of forward error correction; the simulator alone has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from lossylink.declared.protections._family import Family, Report, Spelling
from lossylink.declared.protections._options import is_word
from lossylink.declared.protections.fec import code, status
from lossylink.units import parse_positive_time


def _read_flush(value: object) -> int | None:
    return None if is_word(value, "auto", "off") else parse_positive_time(value)


class _FecModel(Family):
    tag = "fec-model"
    order = 30
    spellings = (
        Spelling(
            word="fec-model",
            name="FEC model",
            meaning="the switch model of the published FEC evaluation",
            argument=code.CODE,
            # Its decoder knows one block at a time: data that pass its parity would end it.
            options=(replace(code.FLUSH, read=_read_flush), code.METER, code.CHANGE),
            variants=code.LOOKS,
        ),
    )
    is_live = False

    def value(
        self, spelling: Spelling, argument: Mapping[str, Any], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        del spelling
        return code.value(self.tag, argument, options)

    def spell(self, value: Mapping[str, Any]) -> str:
        return f"fec-model:{value['k']}/{value['h']}"

    def load_share(self, value: Mapping[str, Any], *, loss_ratio: float, frame_wire_bytes: int) -> float:
        del loss_ratio
        return code.share(value, frame_wire_bytes=frame_wire_bytes)

    def source_share(self, value: Mapping[str, Any], *, frame_wire_bytes: int) -> float:
        return code.source_share(value, frame_wire_bytes=frame_wire_bytes)

    def residual_loss(
        self, value: Mapping[str, Any], *, loss_ratio: float, reverse_loss_ratio: float | None = 0.0
    ) -> float:
        del reverse_loss_ratio  # nothing goes back
        return code.residual_loss(value, loss_ratio=loss_ratio)

    def sender_lines(self, near: Report) -> Iterable[str]:
        return status.sender_lines(near)

    def receiver_lines(self, far: Report) -> Iterable[str]:
        return status.receiver_lines(far)

    def parameters(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return code.parameters(value)


FAMILY = _FecModel()
