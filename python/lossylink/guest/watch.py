"""Whether a guest gets on: virtual time stands still while a program keeps the processor."""

from __future__ import annotations

import os
import time
from pathlib import Path

from lossylink.errors import RunError

#: How long no process of a guest may sleep.
PATIENCE_SECONDS = 10.0
#: A machine that is busy with other work may leave the guest this share of a processor, and no less.
_LEAST_SHARE = 0.3


class Watch:
    """Reads what a guest tells of itself."""

    def __init__(self, clock: Path, pid: int) -> None:
        self._clock, self._pid = clock, pid
        self._told: tuple[str, str] | None = None
        self._since, self._used = time.monotonic(), 0.0

    def look(self) -> None:
        """Look once.

        Raises
        ------
        RunError
            No time has passed in the guest for so long, and a program of it was at work.
        """
        fields = self._clock.read_text().split(maxsplit=2)
        if len(fields) < 3:
            return
        told, running = (fields[0], fields[1]), fields[2].strip()
        now = time.monotonic()
        if told != self._told:
            self._told, self._since, self._used = told, now, self._session_seconds()
            return
        waited = now - self._since
        if waited >= PATIENCE_SECONDS and self._session_seconds() - self._used >= _LEAST_SHARE * waited:
            raise RunError(
                f"virtual time stands still: {running} has used the processor for {waited:.0f} s "
                "without sleeping; let it wait in the kernel (poll, select, a blocking read)"
            )

    def _session_seconds(self) -> float:
        """Return the processor time of the kernel and of its guest's processes."""
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[3]) == self._pid:
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")
