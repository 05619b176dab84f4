"""Starting a data plane process and talking to it over its control socket."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

from lossylink.errors import RunError
from lossylink.linux.lab.enclave import Enclave
from lossylink.linux.lab.process import start_daemon

#: The module that runs our own data plane.
DATAPLANE = "lossylink.linux.dataplane"
#: How long a data plane may take to open its ports.
_START_SECONDS = 15.0
#: How long an answer may take: the data plane itself gives up after five seconds.
_ANSWER_SECONDS = 6.0


class PlaneClient:
    """A data plane that runs, seen through its control socket."""

    def __init__(self, socket_path: Path) -> None:
        self.socket_path = socket_path

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send one command and return the answer."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_ANSWER_SECONDS)
                connection.connect(str(self.socket_path))
                connection.sendall(json.dumps({"command": command} | arguments).encode() + b"\n")
                with connection.makefile("r") as reader:
                    line = reader.readline()
        except OSError as error:
            raise RunError(f"the data plane at {self.socket_path} does not answer: {error}") from None
        if not line:
            raise RunError(f"the data plane at {self.socket_path} hung up")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RunError(f"the data plane refused: {answer['error']}")
        return answer

    def prometheus(self) -> str:
        """Return every counter in Prometheus' text format."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_ANSWER_SECONDS)
                connection.connect(str(self.socket_path))
                connection.sendall(b"GET /metrics HTTP/1.0\r\n")
                with connection.makefile("r") as reader:
                    _, _, body = reader.read().partition("\n\n")
        except OSError as error:
            raise RunError(f"the data plane at {self.socket_path} does not answer: {error}") from None
        return body

    def counters(self) -> dict[str, Any]:
        """Return every counter."""
        return self.ask("counters")


def start_plane(
    enclave: Enclave, namespace: str, config: dict[str, Any], log: Path, *, module: str = DATAPLANE
) -> PlaneClient:
    """Start a data plane in a network namespace, by the module that runs it, and wait until it answers."""
    client = PlaneClient(Path(config["control"]))
    # Not in the command line, which holds 128 KiB: a trace of losses may be longer.
    file = Path(f"{client.socket_path}.json")
    file.write_text(json.dumps(config))
    command = enclave.inside(namespace, [sys.executable, "-m", module, f"@{file}"])
    client.socket_path.unlink(missing_ok=True)
    try:
        start_daemon(command, log, is_up=client.socket_path.exists, patience_seconds=_START_SECONDS)
    except RunError as error:
        raise RunError(f"the data plane in {namespace}: {error}") from None
    return client
