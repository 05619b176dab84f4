"""Processes that we may end: known by number and instant of start, so that a reused number is safe."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: How long a process may take to end of its own accord.
_PATIENCE_SECONDS = 1.0


@dataclass(frozen=True)
class Process:
    """One process, told apart from a later one of the same number by its start, in clock ticks since boot."""

    pid: int
    start_ticks: int
    command: str

    def is_alive(self) -> bool:
        """Return whether this very process still runs."""
        return process_of(self.pid) == self

    def signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.is_alive():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return


def process_of(pid: int) -> Process | None:
    """Return the process with this number; nothing when there is none, or it has ended already.

    Examples
    --------
    >>> import os
    >>> process_of(os.getpid()).is_alive()
    True
    >>> process_of(2**22 + 1) is None
    True
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command stands in parentheses and may itself contain spaces and parentheses.
    command, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    return None if fields[0] in "ZX" else Process(pid=pid, start_ticks=int(fields[19]), command=command)


def start_daemon(command: Sequence[str], log: Path) -> None:
    """Start a process in a session of its own that is nobody's child, so that it outlives this one."""
    with log.open("w") as output:
        subprocess.run(
            ["setsid", "--fork", *command], stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=True
        )


def end(processes: Iterable[Process]) -> None:
    """End processes: politely first, then by force."""
    left = list(processes)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in left:
            process.signal(number)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (left := [process for process in left if process.is_alive()]) and time.monotonic() < deadline:
            time.sleep(0.005)
        if not left:
            return
