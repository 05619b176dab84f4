"""LinkGuardian: link-local retransmission, in order (``lg``) or non-blocking (``lg-nb``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lossylink.declared.protections._family import Family, Look, Option, Report, Spelling
from lossylink.declared.protections._options import count
from lossylink.declared.protections.linkguardian import status
from lossylink.declared.protections.linkguardian.limits import PUBLISHED_HOLES, most_copies
from lossylink.units import parse_switch

_COPIES = Option(
    name="copies",
    read=count("copies", none="auto"),
    default=None,
    usage="`copies=N`, `auto`",
    description="copies of each retransmission, or auto: from the loss ratio",
)
_CONTROL_COPIES = Option(
    name="control_copies",
    read=count("control_copies", none="auto"),
    default=None,
    usage="`control_copies=N`, `auto`",
    description="copies of each loss notification and pause, or auto: from the loss ratio of the way back",
)
_DUMMIES = Option(
    name="dummies",
    read=count("dummies", none="auto"),
    default=None,
    usage="`dummies=N`, `auto`",
    description="dummies after each packet, or auto: from the switch profile",
)
_HOLES = Option(
    name="holes",
    read=count("holes", none="unlimited"),
    default=PUBLISHED_HOLES,
    usage="`holes=N`, `unlimited`",
    description="longest run of losses requested, or unlimited",
)
_TAIL = Option(
    name="tail",
    read=parse_switch,
    default=True,
    usage="`tail=on`, `off`",
    description="detect tail losses with dummies",
)
_ORDER = Option(
    name="order",
    read=parse_switch,
    default=True,
    usage="`order=on`, `off`",
    description="hold packets behind a hole until it is filled",
)
_BACKPRESSURE = Option(
    name="backpressure",
    read=parse_switch,
    default=True,
    usage="`backpressure=on`, `off`",
    description="pause the sender when the reorder buffer fills",
)
_DEDUPLICATE = Option(
    name="deduplicate",
    read=parse_switch,
    default=True,
    usage="`deduplicate=on`, `off`",
    description="drop second copies in non-blocking mode",
)


class _LinkGuardian(Family):
    tag = "linkguardian"
    order = 10
    spellings = (
        Spelling(
            word="lg",
            name="LinkGuardian",
            meaning="LinkGuardian, ordered",
            options=(
                *(_COPIES, _CONTROL_COPIES, _DUMMIES, _HOLES, _TAIL),
                *(_ORDER, _BACKPRESSURE, _DEDUPLICATE),
            ),
            look=Look(slot="blue"),
            variants={
                "order=off,tail=off": Look(slot="orange"),
                "order=off": Look(slot="purple"),
                "tail=off": Look(slot="sky"),
                "backpressure=off": Look(slot="orange"),
            },
        ),
        Spelling(
            word="lg-nb",
            name="LinkGuardian NB",
            meaning="LinkGuardian, non-blocking",
            also=("non-blocking", "linkguardian non-blocking"),
            options=(_COPIES, _CONTROL_COPIES, _DUMMIES, _HOLES, _TAIL, _DEDUPLICATE),
            look=Look(slot="green"),
        ),
    )
    events = {  # noqa: RUF012 - nobody writes to it
        "retransmitted": ("sender", "retransmitted"),
        "dummies": ("sender", "dummies"),
        "lost": ("receiver", "lost"),
        "given up": ("receiver", "given_up"),
        "duplicates": ("receiver", "duplicates"),
    }

    def residual_loss(
        self, value: Mapping[str, Any], *, loss_ratio: float, reverse_loss_ratio: float | None = 0.0
    ) -> float | None:
        from lossylink.declared.protections.linkguardian import closed_forms  # numpy

        if loss_ratio == 0:
            return 0.0
        if value["holes"] not in {None, PUBLISHED_HOLES} or reverse_loss_ratio is None:
            return None
        options = closed_forms.Options(
            ordered="ordered" in value["mode"],
            copies=value["copies"] or closed_forms.copies(loss_ratio),
            unlimited_holes=value["holes"] is None,
            control_copies=value["control_copies"] or closed_forms.control_copies(reverse_loss_ratio),
        )
        return closed_forms.effective_loss(options, loss_ratio, reverse_loss_ratio)

    def value(
        self, spelling: Spelling, argument: Mapping[str, Any], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        del spelling, argument
        # The spelling lg-nb has no option order.
        is_ordered = options.get("order", False)
        mode: dict[str, Any] = (
            {"ordered": {"backpressure": options["backpressure"]}}
            if is_ordered
            else {"non-blocking": {"deduplicate": options["deduplicate"]}}
        )
        return {
            "family": self.tag,
            "copies": options["copies"],
            "control_copies": options["control_copies"],
            "dummies": options["dummies"] if options["tail"] else 0,
            "holes": options["holes"],
            "mode": mode,
        }

    def spell(self, value: Mapping[str, Any]) -> str:
        return "lg" if "ordered" in value["mode"] else "lg-nb"

    def load_share(self, value: Mapping[str, Any], *, loss_ratio: float, frame_wire_bytes: int) -> float:
        from lossylink.declared.protections.linkguardian import closed_forms  # numpy
        from lossylink.theory import linkguardian  # numpy

        if loss_ratio >= 1:
            return 1.0  # nothing is asked for again on a link that lets nothing through
        # A link that loses nothing sends no copies, whatever their number.
        copies = value["copies"] or closed_forms.copies(loss_ratio)
        share = linkguardian.nonblocking_speed_bps(
            rate_bps=1.0, loss_ratio=loss_ratio, copies=copies, frame_wire_bytes=frame_wire_bytes
        )
        return float(share)

    def keeps_order(self, value: Mapping[str, Any]) -> bool:
        """The ordered mode alone holds frames back behind a lost one."""
        return "ordered" in value["mode"]

    def for_copies(self, copies: int, control_copies: int) -> str:
        spelling = f"lg:copies={min(copies, most_copies())}"
        # One is what the rule gives on a way back without losses.
        return spelling + (
            f",control_copies={min(control_copies, most_copies())}" if control_copies > 1 else ""
        )

    def sender_lines(self, near: Report) -> Iterable[str]:
        return status.sender_lines(near)

    def receiver_lines(self, far: Report) -> Iterable[str]:
        return status.receiver_lines(far)

    def recovered(self, near: Report, far: Report) -> int:
        del near
        receiver = far.get("receiver", {})
        given_up = int(receiver.get("given_up", 0))
        # A switch program counts given-up positions alone.
        return int(receiver.get("recovered", max(0, int(receiver.get("lost", 0)) - given_up)))

    def stress_row(self, near: Report, far: Report) -> dict[str, Any]:
        sender, receiver = near.get("sender", {}), far.get("receiver", {})
        return {
            "tx_buffer_kb_max": sender.get("buffer_max_bytes", 0) / 1000,
            "rx_buffer_kb_max": receiver.get("buffer_max_bytes", 0) / 1000,
            "retransmissions": sender.get("retransmitted", 0),
            "duplicates_dropped": receiver.get("duplicates", 0),
            "timeouts": receiver.get("given_up", 0),
        }


FAMILY = _LinkGuardian()
