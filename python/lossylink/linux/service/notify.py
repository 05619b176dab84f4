"""What a service manager is told: sd_notify(3), a datagram for each message.

The protocol is one line of text to one socket. The Python packages for it are a file each and without upkeep
(``sdnotify`` has had no release since 2017), and systemd's own binding needs its headers to be built.
"""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass

from lossylink.errors import RunError
from lossylink.linux.lab.plane import PlaneClient

#: How often a guard that is starting is asked, in seconds.
_START_SECONDS = 0.05
#: Keep-alives in the time that the manager allows: one that comes late must not count as a failure.
_ALIVE_PER_WATCHDOG = 4
#: How long a manager that does not read may hold up whoever tells it something, in seconds.
_PATIENCE_SECONDS = 1.0
_US_PER_SECOND = 1e6


@dataclass(frozen=True)
class Notifier:
    """The service manager that has started this process; nobody, if none has."""

    #: Its socket: a path, or a name behind ``@``.
    address: str | None
    #: How long it waits between two signs of life; nothing if it wants none.
    watchdog_seconds: float | None

    @classmethod
    def of_environment(cls) -> Notifier:
        """Return the manager that the environment names.

        Examples
        --------
        >>> from unittest.mock import patch
        >>> with patch.dict(os.environ, NOTIFY_SOCKET="@manager", WATCHDOG_USEC="30000000"):
        ...     Notifier.of_environment()
        Notifier(address='@manager', watchdog_seconds=30.0)
        """
        watched, whom = os.environ.get("WATCHDOG_USEC"), os.environ.get("WATCHDOG_PID")
        is_meant = watched is not None and whom in (None, str(os.getpid()))
        seconds = int(watched) / _US_PER_SECOND if is_meant and watched else None
        return cls(os.environ.get("NOTIFY_SOCKET"), seconds)

    def tell(self, message: str) -> None:
        """Send a message. A manager that is gone does not keep a guard from guarding."""
        if self.address is None:
            return
        address = f"\0{self.address[1:]}" if self.address.startswith("@") else self.address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as link:
            link.settimeout(_PATIENCE_SECONDS)
            link.sendto(message.encode(), address)

    def status(self, line: str) -> None:
        """Show a line as what the service does at present."""
        self.tell(f"STATUS={line}")


def keep_alive(plane: PlaneClient, manager: Notifier) -> None:
    """Say when the data plane is ready, and then that it lives, for as long as it answers.

    The loop that carries frames gives the answer itself, between two frames: a loop that hangs gives none.
    """
    wait = threading.Event()
    while not _answers(plane):
        wait.wait(_START_SECONDS)
    manager.tell("READY=1")
    while manager.watchdog_seconds is not None:
        if _answers(plane):
            manager.tell("WATCHDOG=1")
        wait.wait(manager.watchdog_seconds / _ALIVE_PER_WATCHDOG)


def _answers(plane: PlaneClient) -> bool:
    try:
        plane.counters()
    except RunError:
        return False
    return True
