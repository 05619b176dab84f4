"""One switch of the lab and its control plane, behind the control socket that every data plane has."""

from __future__ import annotations

import json
import socketserver
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lossylink import _native
from lossylink.declared.protections import Protection
from lossylink.errors import LossylinkError, RunError, UserError
from lossylink.linux.bmv2.common import CONTROL_CABLE, Pace, loss_ratio
from lossylink.linux.bmv2.programs import Program, program_of
from lossylink.linux.bmv2.sources import constants
from lossylink.linux.bmv2.switch import Switch
from lossylink.linux.bmv2.tools import compiled

#: How long a client may take for its question.
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class Configuration:
    """What a switch of the lab is told when it starts."""

    control: str
    """The control socket."""
    family: str
    """The program: a folder of ``p4/``."""
    protection: dict[str, Any]
    """What it protects its link by, as a protection's value."""
    direction: str
    """The direction whose frames it corrupts: ``forward`` or ``reverse``."""
    loss_ratio: float
    pace: dict[str, int]
    """As `Pace`."""
    log: str
    """File for what the switch says."""


class Agent:
    """The control plane of a running switch."""

    def __init__(self, configuration: Configuration) -> None:
        self._direction = configuration.direction
        self._program: Program = program_of(configuration.family)
        self._started = time.monotonic()
        numbers = constants(configuration.family)
        ports = {"HOST": "lan", "LINK": "trunk", "CONTROL": CONTROL_CABLE[0]}
        self._cables = {"lan": "lan", "link": "trunk"}
        interfaces = {numbers[f"PORT_{port}"]: name for port, name in ports.items()}
        self.switch = Switch(compiled(configuration.family), interfaces, log=Path(configuration.log))
        self._before = {name: _arrived(name) for name in self._cables.values()}
        self._plane = self._program.control(self.switch.runtime, Pace(**configuration.pace))
        self._plane.set_up()
        self.protect(configuration.protection)
        self._plane.corrupt(configuration.loss_ratio)
        self._plane.begin(CONTROL_CABLE[1])

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer one question.

        Raises
        ------
        UserError
            There is no such question, or what is asked for cannot be.
        """
        match question:
            case {"command": "counters"}:
                return self.counters()
            case {"command": "protect"}:
                self.protect(question.get("protection") or {"family": "none"})
            case {"command": "loss"}:
                if self._direction in question:
                    self._plane.corrupt(loss_ratio(question[self._direction]))
            case {"command": "hold", "is_on": bool(is_on)}:
                self._plane.hold(is_on=is_on)
            case {"command": "rest"}:
                return {"is_at_rest": self._plane.is_at_rest()}
            case {"command": "clear"}:
                pass  # it keeps no lateness
            case _:
                raise UserError(f"a switch does not know the command {question.get('command')}")
        return {}

    def protect(self, protection: dict[str, Any]) -> None:
        """Protect the link by something else from now on."""
        self._plane.set(self._program.parameters(protection))
        self._protection = protection

    def counters(self) -> dict[str, Any]:
        """Return every counter, in the places where data planes have theirs."""
        state = self._plane.state()
        corruption = self._plane.corruption()
        seen = {"lan": state["from_lan"], "link": state["from_link"]}
        if self._program.corrupts_on_arrival:
            seen["link"] = corruption["frames"]
        return {
            "kind": "switch",
            "uptime_seconds": time.monotonic() - self._started,
            "scheduling": "ordinary",
            "guards": {"guard": {"protection": Protection.of(self._protection).label} | state},
            "directions": {
                self._direction: {
                    "frames_offered": corruption["frames"],
                    "frames_lost": corruption["corrupted"],
                    "frames_delivered": corruption["frames"] - corruption["corrupted"],
                }
            },
            "ports": {
                port: {
                    "received_frames": seen[port],
                    # What the kernel gave to the interface, and the switch has not taken.
                    "missed": max(0, _arrived(name) - self._before[name] - seen[port]),
                    "send_refused": 0,
                }
                for port, name in self._cables.items()
            },
        }


def _arrived(interface: str) -> int:
    statistics = Path("/sys/class/net", interface, "statistics/rx_packets")
    return int(statistics.read_text()) if statistics.exists() else 0


class _Request(socketserver.StreamRequestHandler):
    timeout = _PATIENCE_SECONDS
    server: Server

    def handle(self) -> None:
        line = self.rfile.readline().decode()
        agent = self.server.agent
        if line.startswith("GET "):
            self.wfile.write(_native.prometheus_page(json.dumps(agent.counters())).encode())
            return
        try:
            answer = agent.answer(json.loads(line))
        except (LossylinkError, ValueError) as error:
            answer = {"error": str(error)}
        self.wfile.write(json.dumps(answer).encode() + b"\n")


class Server(socketserver.UnixStreamServer):
    """Answers clients, one after another, as long as the switch lives."""

    def __init__(self, path: str, agent: Agent) -> None:
        self.agent = agent
        self._path = path
        unfinished = Path(path).with_suffix(".new")
        unfinished.unlink(missing_ok=True)
        super().__init__(str(unfinished), _Request)

    def server_activate(self) -> None:
        """Listen. The socket appears at its path when it already does: who sees it can connect."""
        super().server_activate()
        Path(str(self.server_address)).replace(self._path)

    def service_actions(self) -> None:
        """Notice, twice a second, that the switch has ended."""
        if not self.agent.switch.is_alive():
            raise RunError("the switch has ended")
