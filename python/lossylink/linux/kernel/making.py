"""Runs the programs of a build: a clean environment, everything they say in a file, an error in one line."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import IO

from lossylink.errors import RunError
from lossylink.linux.kernel.recipe import STAMPS

#: What the programs get of the user's environment; a word such as ARCH or MAKEFLAGS would change the kernel.
_KEPT = ("PATH", "HOME", "TMPDIR", "http_proxy", "https_proxy")
#: Signs of the line that says why a program failed, the surest first.
_SIGNS = (r"No space left", r"error:", r"undefined reference", r"^E: ")
#: Where make gives up; the line before says why.
_GIVES_UP = re.compile(r"^make.*\*\*\*")
#: Stands before the name of each program.
_BEGIN = "\n=== "
#: The reason stands near the end, among what other jobs still say.
_LAST_LINES = 60


class Log:
    """A file that keeps what the programs of a build say."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def started(
        self, words: Sequence[str], folder: Path, *, stdin: int = subprocess.DEVNULL
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Give a program that runs until the block ends; what it says goes into the file."""
        self._begin(words)
        with (
            self.path.open("ab") as kept,
            _ended(
                subprocess.Popen(words, cwd=folder, env=_environment(), stdin=stdin, stdout=kept, stderr=kept)
            ) as process,
        ):
            yield process

    def run(self, words: Sequence[str], folder: Path) -> None:
        """Run a program to its end.

        Raises
        ------
        RunError
            It failed; the message has the line in which it says why.
        """
        with self.started(words, folder) as process:
            process.wait()
        self._check(words, process.returncode)

    def lines(self, words: Sequence[str], folder: Path) -> Iterator[str]:
        """Run a program to its end, and yield each line that it says.

        Raises
        ------
        RunError
            It failed; the message has the line in which it says why.
        """
        self._begin(words)
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        with self.path.open("ab", buffering=0) as kept, _ended(process):
            assert process.stdout is not None
            for line in process.stdout:
                kept.write(line)
                yield line.decode(errors="replace")
            process.wait()
        self._check(words, process.returncode)

    def count(self, beginnings: tuple[str, ...]) -> int:
        """Return how many lines of the file begin so."""
        if not self.path.is_file():
            return 0
        text = self.path.read_text(encoding="utf-8", errors="replace")
        return sum(line.startswith(beginnings) for line in text.splitlines())

    def complaint(self) -> str:
        """Return the line in which the last program says why it failed."""
        text = self.path.read_text(encoding="utf-8", errors="replace")
        lines = text.rpartition(_BEGIN)[2].splitlines()[1:][-_LAST_LINES:]
        said = [line.strip() for line in lines if line.strip()]
        for sign in _SIGNS:
            if found := next((line for line in said if re.search(sign, line)), None):
                return found
        before = [one for one, after in pairwise(said) if _GIVES_UP.match(after)]
        return (before or said[-1:] or ["it says nothing"])[0]

    def _begin(self, words: Sequence[str]) -> None:
        with self.path.open("a", encoding="utf-8") as kept:
            kept.write(f"{_BEGIN}{' '.join(words)}\n")

    def _check(self, words: Sequence[str], code: int) -> None:
        if code != 0:
            name = words[0]
            raise RunError(f"{name} failed: {self.complaint()}; all that it said is in {self.path}")


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """End a program with the block, however that ends: a build that is stopped leaves nothing running."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None and not pipe.closed:
                _close(pipe)


def _close(pipe: IO[bytes]) -> None:
    """Close a pipe whose reader may be gone."""
    with suppress(BrokenPipeError):
        pipe.close()


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, **STAMPS, "LC_ALL": "C"}
