"""Whether a guest gets on: virtual time stands still while a program keeps the processor."""

from __future__ import annotations

import os
import time
from pathlib import Path

from lossylink.errors import RunError

#: How much of a processor's time a guest may use without any of its own passing. The machine's clock
#: would not do: a machine that is busy with other work leaves a guest less of a processor.
PATIENCE_SECONDS = 10.0


class Watch:
    """Reads what a guest tells of itself."""

    def __init__(self, clock: Path, pid: int) -> None:
        self._clock, self._pid = clock, pid
        self._told: tuple[str, str] | None = None
        self._since, self._used = time.monotonic(), 0.0
        self.clock_ns = 0
        """The guest's clock when it was last looked at, in nanoseconds; zero before it has told."""
        self.running = ""
        """The program that ran in it then."""

    def look(self) -> None:
        """Look once.

        Raises
        ------
        RunError
            No time has passed in the guest while it used the processor for so long.
        """
        fields = self._clock.read_text().split(maxsplit=2)
        if len(fields) < 3:
            return
        told, running = (fields[0], fields[1]), fields[2].strip()
        self.clock_ns, self.running = int(fields[1]), running
        now = time.monotonic()
        if told != self._told:
            self._told, self._since, self._used = told, now, self._session_seconds()
            return
        if now - self._since < PATIENCE_SECONDS:
            return
        used = self._session_seconds() - self._used
        if used >= PATIENCE_SECONDS:
            raise RunError(
                f"virtual time stands still: {running} has used the processor for {used:.0f} s "
                "without sleeping; let it wait in the kernel (poll, select, a blocking read)"
            )

    def _session_seconds(self) -> float:
        """Return the processor time of the kernel and of its guest's processes, ended ones among them."""
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[3]) == self._pid:
                ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")
