"""Progress on stderr: a bar with the time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Runs shorter than this show nothing, in seconds.
QUIET_SECONDS = 2.0
#: Time between two lines where there is no terminal, in seconds.
LINE_SECONDS = 10.0


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float, float], None]]:
    """Give a function that takes the work done and the whole work, from any thread."""
    bar = _TerminalBar(title) if sys.stderr.isatty() else _Lines(title)
    try:
        yield bar.update
    finally:
        bar.close()


class _Lines:
    """One line each `LINE_SECONDS`, for logs."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._started = time.monotonic()
        self._next = self._started + LINE_SECONDS
        self._lock = threading.Lock()

    def update(self, done: float, total: float) -> None:
        now = time.monotonic()
        with self._lock:
            if now < self._next or not done or not total:
                return
            self._next = now + LINE_SECONDS
        left = (now - self._started) * (total - done) / done
        print(f"{self._title}: {done / total:.0%}, about {left:.0f} s left", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing is held."""


class _TerminalBar:
    """A rich progress bar that appears after `QUIET_SECONDS` and leaves no trace."""

    def __init__(self, title: str) -> None:
        from rich.console import Console  # only where there is a terminal
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._shown_from = time.monotonic() + QUIET_SECONDS
        self._lock = threading.Lock()
        self._running = False
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(title, total=None)

    def update(self, done: float, total: float) -> None:
        with self._lock:
            self._bar.update(self._task, completed=done, total=total or None)
            if not self._running and time.monotonic() >= self._shown_from:
                self._bar.start()
                self._running = True

    def close(self) -> None:
        with self._lock:
            if self._running:
                self._bar.stop()
