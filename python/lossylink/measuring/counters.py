"""The loss of a link from what its interface counts: frames whose check sequence was wrong, and FEC blocks.

Only frames on their way here are counted. A driver that counts no such frames says nothing of the loss.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Final

from lossylink.declared.job import Progress
from lossylink.errors import UserError
from lossylink.measuring.fit import Fit, counted
from lossylink.measuring.interface import VIRTUAL_DRIVERS, Interface
from lossylink.measuring.line import ethtool
from lossylink.measuring.line.gauges import Gauges

_LOOK_SECONDS: Final = 0.2
#: What tells of a line's code, the kernel's counters first: drivers name theirs as they like.
_ASKED: Final = (("--json", "-I", "--show-fec"), ("-S",))
#: Counters of frames that a receiver drops for errors on the line: part of the kernel's ``rx_errors``.
_CRC, _FRAME = "rx_crc_errors", "rx_frame_errors"


@dataclass(frozen=True)
class Counted:
    """What an interface has counted over a time."""

    fit: Fit
    seconds: float
    is_shorter: bool
    """Whether it was stopped before its time."""
    fec_blocks: dict[str, int]
    """Blocks of the line's own code, corrected and not; empty if the driver does not count them."""
    gauges: Gauges
    """What the driver counted of the line's code; empty where it counts nothing."""
    errors: dict[str, int]
    """Frames received with errors, by the kernel's names."""

    def lines(self) -> list[str]:
        """Return what was counted beside the loss, in words."""
        errors = ", ".join(f"{name} {count:,}" for name, count in self.errors.items())
        blocks = ", ".join(f"{name} {count:,}" for name, count in self.fec_blocks.items())
        return [f"  {errors}", f"  FEC: {blocks}" if blocks else "  FEC: the driver counts no blocks"]


def count(interface: Interface, *, seconds: float, report: Progress) -> Counted:
    """Count for a time; Ctrl-C ends it and keeps what is counted.

    Raises
    ------
    UserError
        When the driver has no line and counts no such frames, or no frame came.
    """
    driver = interface.driver
    blocks_before, gauges_before = interface.fec_blocks(), read_live(interface)
    if driver in VIRTUAL_DRIVERS and not blocks_before:
        raise UserError(
            f"{interface.name} ({driver}) counts no corrupted frames, which is not the same as no loss: "
            "leave out --counters and run lossylink measure on both boxes"
        )
    before, began, is_shorter = interface.statistics(), time.monotonic(), False
    try:
        while (elapsed := time.monotonic() - began) < seconds:
            report(elapsed, seconds)
            time.sleep(min(_LOOK_SECONDS, seconds - elapsed))
    except KeyboardInterrupt:
        is_shorter = True
    now, elapsed, blocks = interface.statistics(), time.monotonic() - began, interface.fec_blocks()
    gauges = read_live(interface).since(gauges_before)
    change = {name: now[name] - before[name] for name in (_CRC, _FRAME, "rx_errors", "rx_packets")}
    corrupted = change[_CRC] or change[_FRAME]
    frames = change["rx_packets"] + corrupted
    if frames <= 0:
        raise UserError(f"no frame came in on {interface.name} in {elapsed:.0f} s; count while traffic flows")
    return Counted(
        fit=counted(
            frames=frames,
            losses=corrupted,
            verdict="counters do not tell bursts; taken as independent",
        ),
        seconds=elapsed,
        is_shorter=is_shorter,
        fec_blocks={name: blocks[name] - blocks_before.get(name, 0) for name in blocks},
        gauges=gauges,
        errors={name: change[name] for name in (_CRC, _FRAME, "rx_errors")},
    )


def read_live(interface: Interface) -> Gauges:
    """Return what an interface has counted of its line's code; empty where its driver counts nothing."""
    told: list[Gauges] = []
    for options in _ASKED:
        text = interface.ethtool(*options)
        if ethtool.recognises(text):
            with suppress(UserError):  # a driver without such counters is no mistake of the user's
                told += ethtool.read(text, interface.name).values()
    known: dict[str, Any] = {}
    for one in fields(Gauges):
        values = [value for gauges in told if (value := getattr(gauges, one.name)) not in (None, ())]
        if values and one.name != "source":
            known[one.name] = values[0]
    return Gauges(source="ethtool", **known)
