"""``lab auto``: watches a link's counters and switches its protection, as the core's monitor decides.

Each direction has a monitor. The one of the data says whether the link is protected and with how many copies,
the one of the way back how often control frames are sent (LG-47).

The evidence and the thresholds are those of ``docs/protocols/monitor.md``; this file reads, obeys and tells.
The published thresholds need 10^9 frames to switch off, three hours at 1 Gb/s: a lab has its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

from lossylink import _native
from lossylink._native import Monitor
from lossylink.declared.protections import for_copies
from lossylink.errors import UserError
from lossylink.linux.lab import switches

if TYPE_CHECKING:
    from lossylink.linux.lab.lab import Lab


@dataclass(frozen=True, kw_only=True)
class Policy:
    """When to protect a link, and how much evidence that takes."""

    on_loss: float = 1e-5
    """Loss ratio from which the link is protected: 1,000 times the published one, at 1/1,000 of its rate."""
    off_loss: float | None = None
    """Loss ratio below which it is not any more; half of ``on_loss`` when not given, as in the core."""
    many_copies_loss: float = 1e-3
    """Below it one copy is sent, as the published program does."""
    target_loss: float = 1e-8
    """Effective loss that the copies are to reach, as published."""
    confidence: float = 0.99
    hold_seconds: float = 5.0
    """Least time from a change to one that does less."""
    poll_seconds: float = 0.5

    def monitor(self) -> Monitor:
        """Return a monitor with the shortest window that can ever switch off.

        Raises
        ------
        UserError
            The thresholds cannot work together.

        Examples
        --------
        >>> Policy(on_loss=1e-3).monitor().copies
        0
        """
        off = self.on_loss / 2 if self.off_loss is None else self.off_loss
        try:
            return _native.Monitor(
                window_frames=_shortest_window(self.confidence, off),
                on_loss=self.on_loss,
                off_loss=off,
                many_copies_loss=self.many_copies_loss,
                target_loss=self.target_loss,
                confidence=self.confidence,
                hold_seconds=self.hold_seconds,
            )
        except ValueError as error:
            raise UserError(str(error)) from None


def _shortest_window(confidence: float, off_loss: float) -> int:
    """Return the frames without loss that show a ratio below ``off_loss`` (MON-7)."""
    if not (0 < confidence < 1 and 0 < off_loss < 1):
        return 1  # the monitor refuses these with its own words
    return math.ceil(-math.log(1 - confidence) / off_loss) + 1


def protection_of(copies: int, control_copies: int = 1) -> str:
    """Return the protection that the decisions about both directions ask for.

    Examples
    --------
    >>> protection_of(0), protection_of(2), protection_of(2, 3)
    ('off', 'lg:copies=2', 'lg:copies=2,control_copies=3')
    """
    return for_copies(copies, control_copies) if copies else "off"


def run_monitor(
    lab: Lab,
    *,
    tell: Callable[[str], None],
    policy: Policy | None = None,
    seconds: float = math.inf,
    stop: Event | None = None,
) -> None:
    """Poll the link and switch its protection, until Ctrl-C, for ``seconds`` or until ``stop`` is set."""
    policy, stop = policy or Policy(), stop or Event()
    monitors = {"forward": policy.monitor(), "reverse": policy.monitor()}
    if lab.settings.dataplane == "bmv2":
        switches.check_automatic(lab.settings)
    # A monitor takes its link for unprotected at first.
    lab.protect("off")
    started = time.monotonic()
    try:
        while time.monotonic() - started < seconds:
            _look(lab, monitors, tell, time.monotonic() - started)
            if stop.wait(policy.poll_seconds):
                return
    except KeyboardInterrupt:
        return


def _look(lab: Lab, monitors: dict[str, Monitor], tell: Callable[[str], None], now: float) -> None:
    """Do what the monitors make of both directions. Losses on the way back alone protect nothing."""
    directions = lab.link.counters()["directions"]
    before = _asked_for(monitors)
    changed = [name for name, monitor in monitors.items() if _decides(monitor, directions[name], now)]
    protection = _asked_for(monitors)
    if protection == before:
        return
    lab.protect(protection)
    corrupting = [name for name, monitor in monitors.items() if name in changed or monitor.copies]
    found = ", ".join(_found(monitors[name], " on the way back" * (name == "reverse")) for name in corrupting)
    tell(f"{now:7.1f} s: {found}: {protection}")


def _asked_for(monitors: dict[str, Monitor]) -> str:
    return protection_of(monitors["forward"].copies, max(1, monitors["reverse"].copies))


def _decides(monitor: Monitor, counters: Mapping[str, int], now: float) -> bool:
    offered, lost = counters["frames_offered"], counters["frames_lost"]
    return monitor.observe(now, offered - lost, offered) is not None


def _found(monitor: Monitor, where: str) -> str:
    frames, corrupted = monitor.counts
    return f"{corrupted} of the last {frames} frames{where} lost ({corrupted / frames:.1e})"
