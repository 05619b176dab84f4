"""What accompanies a guard that runs: its events, its service manager, its metrics."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lossylink.linux.lab.automatic import Automatic
from lossylink.linux.lab.events import tell
from lossylink.linux.lab.plane import PlaneClient
from lossylink.linux.service import aside
from lossylink.linux.service.metrics import MetricsServer
from lossylink.linux.service.notify import Notifier, keep_alive


@contextmanager
def accompanied(
    control: Path, metrics_at: tuple[str, int] | None, automatic: Automatic | None = None
) -> Iterator[None]:
    """Tell those who watch a guard how it does.

    Parameters
    ----------
    control
        Its control socket, which need not be there yet.
    metrics_at
        The address and the port at which its metrics are served, if at all.
    automatic
        What decides on its protection, if anything does.
    """
    plane, manager = PlaneClient(control), Notifier.of_environment()
    server = None if metrics_at is None else MetricsServer(metrics_at, plane)

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)
        manager.status(line)

    aside.start(tell, plane, say, automatic)
    if manager.address is not None:
        aside.start(keep_alive, plane, manager)
    if server is not None:
        print(f"metrics: {server.url}", file=sys.stderr)
        aside.start(server.serve_forever)
    try:
        yield
    finally:
        manager.tell("STOPPING=1")
