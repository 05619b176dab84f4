"""One software switch as a process of ours: started in this network namespace, ended with its owner."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from lossylink.errors import RunError
from lossylink.linux.bmv2.runtime import Runtime
from lossylink.linux.bmv2.tools import SWITCH, find

#: How long a switch may take to come up.
_START_SECONDS = 15.0
#: How long it may take to end of its own accord.
_END_SECONDS = 2.0
#: Strict priorities of each port: urgent, normal, lowest.
_PRIORITIES = 3
#: prctl(2): the signal that a process gets when its parent dies.
_PR_SET_PDEATHSIG = 1
#: Where a switch listens for its control plane; two in one network namespace need two.
THRIFT_PORT = 9090


class Switch:
    """A running switch and its control plane's connection; a context manager that ends it.

    Parameters
    ----------
    compiled
        The program, as the compiler wrote it.
    interfaces
        The interface of each port, by the port's number.
    log
        File for what the switch says.
    thrift_port
        TCP port for the control plane, on every address of this network namespace.
    """

    def __init__(
        self,
        compiled: Path,
        interfaces: Mapping[int, str],
        *,
        log: Path,
        thrift_port: int = THRIFT_PORT,
    ) -> None:
        ports = [word for port, name in interfaces.items() for word in ("-i", f"{port}@{name}")]
        command = [
            str(find(SWITCH)), *ports, "--thrift-port", str(thrift_port), "--log-level", "off",
            str(compiled), "--", "--priority-queues", str(_PRIORITIES),
        ]  # fmt: skip
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=_die_with_parent
            )
        try:
            self.runtime = Runtime.wait(thrift_port, seconds=_START_SECONDS, is_alive=self.is_alive)
        except RunError as error:
            self.end()
            said = log.read_text(errors="replace").strip()
            raise RunError(f"{SWITCH} did not come up: {said or error}") from None

    def is_alive(self) -> bool:
        """Return whether the process still runs."""
        return self.process.poll() is None

    def end(self) -> None:
        """End the process, politely first."""
        self.process.terminate()
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> Switch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.runtime.close()
        self.end()


def inject(interface: str, frame: bytes) -> None:
    """Send one frame into the switch, by the other end of one of its cables."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind((interface, 0))
        sender.send(frame)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        os._exit(1)
