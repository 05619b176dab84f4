"""How a command ends: its exit codes, and leaving with one of them."""

from __future__ import annotations

from typing import NoReturn

from lossylink.linux.signals import INTERRUPTED

#: Exit codes beside 0 and `INTERRUPTED`: a failed run, and a mistake of the user.
FAILED, MISTAKE = 1, 2

__all__ = ["FAILED", "INTERRUPTED", "MISTAKE", "leave"]


def leave(code: int) -> NoReturn:
    """End the command with an exit code."""
    raise SystemExit(code)
