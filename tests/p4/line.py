"""Two switches with a cable between them, in one namespace: an end of ours at either host's port.

sender -- near0 [ near switch ] link0 == link1 [ far switch ] far0 -- receiver
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from lossylink.linux.bmv2.common import Pace
from lossylink.linux.bmv2.programs import ControlPlane
from lossylink.linux.bmv2.runtime import Runtime
from lossylink.linux.bmv2.sources import constants
from lossylink.linux.bmv2.switch import THRIFT_PORT, Switch
from lossylink.linux.bmv2.tools import compiled

from .bench import DifferenceError, Socket, cable, require_own_namespace

_PATIENCE_SECONDS = 10.0

Control = TypeVar("Control", bound=ControlPlane)


@dataclass(frozen=True)
class Line(Generic[Control]):
    """Two switches, and who talks over them."""

    near: Control
    far: Control
    sender: Socket
    receiver: Socket


@contextmanager
def line_of_two(
    family: str, control: Callable[[Runtime, Pace], Control], pace: Pace | None = None
) -> Iterator[Line[Control]]:
    """Run two switches of a program, set up, with their timers on their way."""
    require_own_namespace()
    numbers = constants(family)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lossylink-line-")))
        ends = ("near", "far")
        for name in ("link", *ends, *(f"{end}-control" for end in ends)):
            stack.enter_context(cable(f"{name}0", f"{name}1"))
        switches = []
        for place, end in enumerate(ends):
            ports = {"HOST": f"{end}0", "LINK": f"link{place}", "CONTROL": f"{end}-control0"}
            switch = stack.enter_context(
                Switch(
                    compiled(family), {numbers[f"PORT_{port}"]: name for port, name in ports.items()},
                    log=folder / f"{end}.log", thrift_port=THRIFT_PORT + place,
                )
            )  # fmt: skip
            switches.append(control(switch.runtime, pace or Pace()))
            switches[-1].set_up()
            switches[-1].begin(f"{end}-control1")
        sockets = [Socket(f"{end}1") for end in ends]
        for socket in sockets:
            stack.callback(socket.close)
        yield Line(near=switches[0], far=switches[1], sender=sockets[0], receiver=sockets[1])


def wait(what: str, read: Callable[[], int], is_enough: Callable[[int], bool]) -> None:
    """Look at a number until it is enough.

    Raises
    ------
    DifferenceError
        It never is.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not is_enough(seen := read()):
        if time.monotonic() > deadline:
            raise DifferenceError(f"{what}: {seen}, and not what it should be after {_PATIENCE_SECONDS:g} s")
