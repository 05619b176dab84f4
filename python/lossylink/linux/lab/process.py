"""Processes that we may end: known by number and instant of start, so that a reused number is safe."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lossylink.errors import RunError

#: How long a process may take to end of its own accord.
_PATIENCE_SECONDS = 1.0
#: How often a process that starts is asked whether it is up.
_LOOK_MILLISECONDS = 2


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


def start_daemon(
    command: Sequence[str], log: Path, *, is_up: Callable[[], bool], patience_seconds: float
) -> None:
    """Start a process in a session of its own that is nobody's child, so that it outlives this one.

    Parameters
    ----------
    command
        The program and its arguments. It replaces itself by what serves, or lives as long as that does.
    log
        File for what the process says.
    is_up
        Whether the process serves; asked every 2 ms.
    patience_seconds
        How long the process may take to come up.

    Raises
    ------
    RunError
        The process ended before it was up, or is not up in time: in its own words, if it said any.
    """
    ended, held = os.pipe()
    try:
        # The process keeps its end of the pipe as long as it lives, and never uses it. So we see the end of a
        # process that is not our child, and read what it said when that is whole.
        with os.fdopen(held, "wb"), log.open("w") as output:
            subprocess.run(
                ["setsid", "--fork", *command],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, pass_fds=(held,), check=True,
            )  # fmt: skip
        poll = select.poll()
        poll.register(ended, 0)  # a hang-up is told unasked
        deadline = time.monotonic() + patience_seconds
        while not is_up():
            if poll.poll(_LOOK_MILLISECONDS):
                raise RunError(_said(log) or "it ended and said nothing")
            if time.monotonic() > deadline:
                words = f"it did not come up in {patience_seconds:g} s"
                raise RunError(f"{words}, and said: {said}" if (said := _said(log)) else words)
    finally:
        os.close(ended)


def _said(log: Path) -> str:
    return log.read_text(errors="replace").strip().removeprefix("error: ")


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
