"""A sweep under way: on a terminal the latest rows above a bar with the time left, elsewhere lines."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lossylink._package.progress import QUIET_SECONDS, progress_bar
from lossylink.cli.runs.drawn_tables import table_of
from lossylink.declared.job import Progress as Tell

#: Rows that are shown.
ROWS = 8
#: Looks at the screen a second.
REFRESHES = 4


class LiveTable:
    """The latest rows and a bar; it appears after `QUIET_SECONDS` and leaves no trace."""

    def __init__(self, places: Sequence[str], console: Console) -> None:
        self._experiment, self._places, self._console = "", tuple(places), console
        self._rows: deque[Mapping[str, Any]] = deque(maxlen=ROWS)
        self._bar = Progress(
            TextColumn("sweep"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("points"),
            TimeRemainingColumn(),
        )
        self._task = self._bar.add_task("", total=None)
        self._live = Live(console=console, transient=True, refresh_per_second=REFRESHES)
        self._shown_from = time.monotonic() + QUIET_SECONDS

    def progress(self, done: float, total: float) -> None:
        """Take the points done and all points."""
        self._bar.update(self._task, completed=done, total=total)
        self._show()

    def watch(self, experiment: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take rows of points that have ended."""
        self._experiment = experiment
        self._rows.extend(rows)
        self._show()

    def drawn(self) -> Group:
        """Return what is on the screen."""
        if not self._rows:
            return Group(self._bar)
        rows = list(self._rows)
        return Group(
            table_of(self._experiment, rows, places=self._places, width=self._console.width), self._bar
        )

    def _show(self) -> None:
        if time.monotonic() >= self._shown_from:
            self._live.update(self.drawn())
            self._live.start()

    def close(self) -> None:
        """Leave the screen as it was."""
        self._live.stop()


@contextmanager
def sweep_display(places: Sequence[str]) -> Iterator[tuple[Tell, Any]]:
    """Give a function for progress and one for rows, or nothing in place of the latter."""
    if not sys.stderr.isatty():
        with progress_bar("sweep") as tell:
            yield tell, None
        return
    live = LiveTable(places, Console(stderr=True))
    try:
        yield live.progress, live.watch
    finally:
        live.close()
