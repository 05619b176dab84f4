"""Captures of a lab's hops."""

from __future__ import annotations

from lossylink.errors import UserError
from lossylink.linux.lab.hosts import INTERFACE
from lossylink.linux.lab.lab import Lab
from lossylink.linux.lab.sniffer import sniffer_command

#: Where each hop can be heard: namespace and interface. The cables exist in a split lab only.
_HOSTS = {"h4": ("h4", INTERFACE), "h8": ("h8", INTERFACE)}
_CABLES = {"sw2-wire": ("sw2", "trunk"), "wire-sw6": ("sw6", "trunk")}
#: Between switches there is a cable alone. What the far switch corrupts is seen here as it was.
_TRUNK = {"sw2-sw6": ("sw2", "trunk")}


def capture_command(lab: Lab, hop: str, file: str, *, count: int | None = None) -> list[str]:
    """Return the command that captures a hop into a file (``-`` is stdout)."""
    is_switched = lab.settings.dataplane == "bmv2"
    hops = _HOSTS | (_TRUNK if is_switched else _CABLES if lab.settings.split else {})
    if hop not in hops:
        is_fused = hop in _CABLES and not is_switched
        hint = "; inside one process there is no cable to listen at: use --split" if is_fused else ""
        raise UserError(f"no hop '{hop}'; this lab has {', '.join(hops)}{hint}")
    place, interface = hops[hop]
    return lab.command(place, sniffer_command(interface, file, count=count))
