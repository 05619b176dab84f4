"""Forward error correction: a systematic (k, h) block code that any h losses of a block do not harm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lossylink.declared.protections._family import Family, Look, Option, Report, Spelling
from lossylink.declared.protections._options import choice
from lossylink.declared.protections.fec import code, status

_RELEASE = Option(
    name="release",
    read=choice("release", "eager", "in-order"),
    default="eager",
    usage="`release=eager`, `in-order`",
    description="FEC: packets leave the decoder eager or in-order",
)
_PRIORITY = Option(
    name="priority",
    read=choice("priority", "off", "data"),
    default="off",
    usage="`priority=off`, `data`",
    description="FEC: data before parity in the queue, or off",
)


class _Fec(Family):
    tag = "fec"
    order = 20
    spellings = (
        Spelling(
            word="fec",
            name="FEC",
            meaning="a systematic block code, K data and H parity packets: K from 1 to 128, H up to 32",
            argument=code.CODE,
            also=("reed-solomon", "rs-fec", "erasure code", "forward error correction"),
            options=(_RELEASE, code.FLUSH, code.METER, _PRIORITY, code.CHANGE),
            look=Look(slot="orange"),
            variants=code.LOOKS,
        ),
    )
    events = {  # noqa: RUF012 - nobody writes to it
        "parity": ("coder", "sent_parity"),
        "closed early": ("coder", "partial_blocks"),
        "rebuilt": ("coder", "recovered"),
        "lost for good": ("coder", "unrecovered"),
    }

    def value(
        self, spelling: Spelling, argument: Mapping[str, Any], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        del spelling
        return code.value(self.tag, argument, options)

    def spell(self, value: Mapping[str, Any]) -> str:
        return f"fec:{value['k']}/{value['h']}"

    def keeps_order(self, value: Mapping[str, Any]) -> bool:
        """An eager decoder hands on what is intact before what it rebuilds."""
        return bool(value["release"] == "in-order")

    def load_share(self, value: Mapping[str, Any], *, loss_ratio: float, frame_wire_bytes: int) -> float:
        del loss_ratio  # parity is sent whether anything is lost or not
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

    def recovered(self, near: Report, far: Report) -> int:
        del near
        return int(far.get("coder", {}).get("recovered", 0))

    def stress_row(self, near: Report, far: Report) -> dict[str, Any]:
        duplicates = far.get("coder", {}).get("duplicates", 0)
        return {**super().stress_row(near, far), "duplicates_dropped": duplicates}


FAMILY = _Fec()
