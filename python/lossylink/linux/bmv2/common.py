"""What the control planes of all programs share, as ``p4/common`` is what the programs share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lossylink.errors import UserError
from lossylink.linux.bmv2.runtime import Runtime

#: The end of the control plane's cable that the switch has, and the one that the control plane has.
CONTROL_CABLE = ("control", "agent")
#: Bits of a corruption draw; source: the published LinkGuardian program.
_DRAW_BITS = 20


@dataclass(frozen=True)
class Pace:
    """How fast a software switch goes round its loops: what keeps them from taking the whole processor."""

    loop_packets_per_second: int = 2000
    """Passes of the loop of copies, which is busy as long as frames cross the link: some for each frame."""
    order_packets_per_second: int = 8000
    """Passes of a loop that keeps order. Frames come round out of order, so n frames need about n / 2 passes
    each to leave in order: the loop empties only if it is that much faster than the link."""
    timer_packets_per_second: int = 1000
    """Timer packets; the published switch has ten million (LG-21)."""
    link_packets_per_second: int = 0
    """Normal frames that leave for the link; zero is as fast as the switch can."""
    queue_frames: int = 512
    """Frames that wait for the link at most."""
    loop_frames: int = 1024
    """Frames in each loop at most; BMv2 takes back as many from its loops."""


def threshold(loss_ratio: float) -> int:
    """Return the draws of 2^20 that lose a frame: rounded down, and all but one at most.

    Raises
    ------
    UserError
        The ratio is no share.

    Examples
    --------
    >>> threshold(1e-3), threshold(1.0) == 2**20 - 1
    (1048, True)
    """
    if not 0 <= loss_ratio <= 1:
        raise UserError(f"{loss_ratio} is not a loss ratio between 0 and 1")
    return min(int(loss_ratio * (1 << _DRAW_BITS)), (1 << _DRAW_BITS) - 1)


def corrupt(runtime: Runtime, place: str, loss_ratio: float) -> None:
    """Set the losses that the control ``Corruption`` makes at a place, such as ``SwitchIngress.corruption``.

    Raises
    ------
    UserError
        The ratio is no share.
    """
    runtime.set_default(
        f"{place}.loss", f"{place}.corrupt_below", (threshold(loss_ratio), _DRAW_BITS)
    )  # fmt: skip


def corrupted(runtime: Runtime, place: str) -> dict[str, int]:
    """Return how many frames came to that place, and how many of them were corrupted."""
    return {
        "frames": runtime.read_counter(f"{place}.frames", 0),
        "corrupted": runtime.read_counter(f"{place}.frames", 1),
    }


def count(runtime: Runtime, counter: str, names: dict[str, int]) -> dict[str, int]:
    """Return the events of one end by name."""
    return {name: runtime.read_counter(counter, index) for name, index in names.items()}


def loss_ratio(model: dict[str, Any]) -> float:
    """Return the ratio of a loss process that a switch can draw: each frame for itself.

    Raises
    ------
    UserError
        It is another process.

    Examples
    --------
    >>> loss_ratio({"model": "bernoulli", "p": 0.001}), loss_ratio({"model": "none"})
    (0.001, 0.0)
    """
    if model["model"] == "none":
        return 0.0
    if model["model"] != "bernoulli":
        raise UserError(
            f"a switch draws each loss for itself: say a ratio such as 1e-3, not {model['model']}"
        )
    return float(model["p"])


def check_losses(models: Iterable[dict[str, Any]]) -> None:
    """Refuse losses that a switch cannot draw.

    Raises
    ------
    UserError
        The message says the mend.
    """
    for model in models:
        loss_ratio(model)
