"""Link-level retry as Ultra Ethernet has it: go-back-N on one link, in order, without a receive buffer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from lossylink.declared.protections._family import Family, Look, Report, Spelling
from lossylink.declared.protections.llr import status
from lossylink.declared.protections.llr.options import OPTIONS

LIVE_LAG_FRAMES: Final = 32
"""W of the live lab, assumed for want of its loop: half a millisecond at 60,000 frames a second."""


class _Llr(Family):
    tag = "llr"
    order = 15
    spellings = (
        Spelling(
            word="llr",
            name="LLR",
            meaning="link-level retry of Ultra Ethernet: go-back-N on the link",
            options=OPTIONS,
            also=("link-level retry", "link-layer retry", "ultra ethernet"),
            look=Look(slot="purple"),
        ),
    )
    events = {  # noqa: RUF012 - nobody writes to it
        "replays": ("llr", "tx_replay"),
        "by the timer": ("llr", "tx_timer_replays"),
        "NACKs": ("llr", "tx_nack"),
        "flushes": ("llr", "tx_flushes"),
        "given up": ("llr", "tx_given_up"),
    }

    def value(
        self, spelling: Spelling, argument: Mapping[str, Any], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        del spelling, argument
        return {
            "family": self.tag,
            "replays": options["replays"],
            "timer_ns": options["timer"],
            "frames": options["frames"],
            "bytes": options["bytes"],
            "spacing_bytes": options["spacing"],
            "init": options["on_init"],
            "flush": options["on_flush"],
            "reinit": options["reinit"],
            "errors": options["errors"],
        }

    def spell(self, value: Mapping[str, Any]) -> str:
        del value
        return "llr"

    def load_share(self, value: Mapping[str, Any], *, loss_ratio: float, frame_wire_bytes: int) -> float:
        del frame_wire_bytes
        from lossylink.theory import llr  # numpy

        # Nobody replays more than may be outstanding.
        lag = min(LIVE_LAG_FRAMES, value["frames"] or LIVE_LAG_FRAMES)
        return float(llr.goodput_share(loss_ratio=loss_ratio, lag_frames=lag))

    def sender_lines(self, near: Report) -> Iterable[str]:
        return status.sender_lines(near)

    def receiver_lines(self, far: Report) -> Iterable[str]:
        return status.receiver_lines(far)

    def recovered(self, near: Report, far: Report) -> int:
        del near
        return int(far.get("llr", {}).get("rx_replay", 0))

    def stress_row(self, near: Report, far: Report) -> dict[str, Any]:
        sender, receiver = near.get("llr", {}), far.get("llr", {})
        return {
            **super().stress_row(near, far),
            "tx_buffer_kb_max": sender.get("outstanding_max_bytes", 0) / 1000,
            "retransmissions": sender.get("tx_replayed_frames", 0),
            "duplicates_dropped": receiver.get("rx_duplicate_seq", 0),
            "timeouts": sender.get("tx_given_up", 0),
        }


FAMILY = _Llr()
