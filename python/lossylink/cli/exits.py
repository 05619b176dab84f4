"""How a command ends: its exit codes, and leaving with one of them."""

from __future__ import annotations

from typing import NoReturn

#: Exit codes beside 0: a failed run, a mistake of the user, a stop by Ctrl-C or SIGTERM (128 + SIGINT).
FAILED, MISTAKE, INTERRUPTED = 1, 2, 130


def leave(code: int) -> NoReturn:
    """End the command with an exit code."""
    raise SystemExit(code)
