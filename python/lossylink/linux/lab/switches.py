"""A lab whose switches are software switches that run the programs of ``p4/``, under a control plane each.

::

    h4 ---- lan [ sw2 ] trunk ==== trunk [ sw6 ] lan ---- h8

No data plane of ours stands between them: a switch corrupts frames itself, as the published ones do.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lossylink.declared.protections import Protection
from lossylink.errors import RunError, UserError
from lossylink.linux.bmv2.common import CONTROL_CABLE, loss_ratio
from lossylink.linux.bmv2.linkguardian import FAMILY
from lossylink.linux.bmv2.programs import program_of
from lossylink.linux.bmv2.runtime import interface
from lossylink.linux.bmv2.tools import SWITCH, compiled, find
from lossylink.linux.lab.plane import PlaneClient

if TYPE_CHECKING:
    from lossylink.linux.lab.directory import LabDirectory
    from lossylink.linux.lab.settings import LabSettings

#: The module that runs a switch.
MODULE = "lossylink.linux.bmv2"
#: Octets of a full frame beside its IP packet: Ethernet's header, check sequence, preamble and gap.
_FRAME_OVERHEAD_BYTES = 38
#: A position is given up after 0.14 s, and several can be missing.
_REST_SECONDS = 5.0
#: The direction that leads to each switch, and the one that leads away.
_DIRECTIONS = {"sw2": ("reverse", "forward"), "sw6": ("forward", "reverse")}


def protect(ends: Sequence[PlaneClient], settings: LabSettings, protection: Protection) -> None:
    """Protect the link by something else, in both directions, when nothing is under way any more (LG-36).

    Raises
    ------
    UserError
        The program in the switches does not have it.
    RunError
        The link does not come to rest; its protection is what it was.
    """
    program_of(settings.protection.value["family"]).parameters(protection.value)
    try:
        for end in ends:
            end.ask("hold", is_on=True)
        deadline = time.monotonic() + _REST_SECONDS
        while not all(end.ask("rest")["is_at_rest"] for end in ends):
            if time.monotonic() > deadline:
                raise RunError(f"the link did not come to rest within {_REST_SECONDS:g} s: try again")
        for end in ends:
            end.ask("protect", protection=protection.live_value)
    finally:
        for end in ends:
            end.ask("hold", is_on=False)


def check_automatic(settings: LabSettings) -> None:
    """Refuse to protect by copies, as a monitor does, where the program has none.

    Raises
    ------
    UserError
        The message says the mend.
    """
    if program_of(settings.protection.value["family"]).family != FAMILY:
        raise UserError("a monitor protects by lg: take the lab down, and up again with --protection lg")


def require(settings: LabSettings) -> None:
    """Compile the program that the switches will run, unless that is done.

    Raises
    ------
    UserError
        The compiler, the switch or the client library is not there; the message says the mend.
    """
    find(SWITCH)
    interface()
    compiled(program_of(settings.protection.value["family"]).family)


def cables(prefix: str) -> Iterable[str]:
    """Yield the commands of ``ip`` that join the switches to each other and to their control planes."""
    yield f"link add name trunk netns {prefix}sw2 type veth peer name trunk netns {prefix}sw6"
    near, far = CONTROL_CABLE
    for box in _DIRECTIONS:
        yield f"link add name {near} netns {prefix}{box} type veth peer name {far} netns {prefix}{box}"


def packets_per_second(settings: LabSettings) -> int:
    """Return the rate of a link in full frames: the switch counts frames, not bits."""
    frame_bits = 8 * (settings.mtu_bytes + _FRAME_OVERHEAD_BYTES)
    return max(1, settings.rate_bps // frame_bits)


def configurations(directory: LabDirectory, settings: LabSettings) -> dict[str, dict[str, Any]]:
    """Return what each switch is told when it starts."""
    program = program_of(settings.protection.value["family"])
    losses = {"forward": settings.loss_forward, "reverse": settings.loss_reverse}
    pace = {
        "link_packets_per_second": packets_per_second(settings),
        "queue_frames": max(1, settings.queue_bytes // (settings.mtu_bytes + _FRAME_OVERHEAD_BYTES)),
    }
    configs = {}
    for box, (inward, outward) in _DIRECTIONS.items():
        direction = inward if program.corrupts_on_arrival else outward
        configs[box] = {
            "control": str(directory.control(box)),
            "family": program.family,
            "protection": settings.protection.value,
            "direction": direction,
            "loss_ratio": loss_ratio(losses[direction].native),
            "pace": pace,
            "log": str(directory.path / f"{box}-switch.log"),
        }
    return configs


class SwitchLink:
    """The link between two switches, of which each corrupts one direction."""

    def __init__(self, near: PlaneClient, far: PlaneClient) -> None:
        self._ends = (near, far)

    def counters(self) -> dict[str, Any]:
        """Return the counters of both directions."""
        near, far = (end.counters() for end in self._ends)
        return near | {"directions": near["directions"] | far["directions"]}

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Ask both switches; each takes what concerns its direction."""
        for end in self._ends:
            end.ask(command, **arguments)
        return {}
