"""Carries out one command line: an error becomes one line and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

from lossylink.cli.app import carry_out
from lossylink.cli.exits import FAILED, INTERRUPTED
from lossylink.errors import LossylinkError
from lossylink.linux.signals import sigterm_as_ctrl_c

#: What the system says where nothing more can be written: the disk, a quota or a limit.
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def run_command_line(arguments: Sequence[str]) -> int:
    """Carry out one command line and return its exit code; a mistake is one line on stderr."""
    try:
        code = _carry_out(arguments)
        sys.stdout.flush()  # here a full disk has its line; at the end of the interpreter it has not
    except BrokenPipeError:
        _silence_stdout()
        return FAILED
    except OSError as error:
        _reraise_when_debugging(error)
        if error.errno not in _NO_SPACE:
            return _complain(_unexpected(error), FAILED)
        _silence_stdout()
        where = error.filename or "the standard output"
        return _complain(f"error: cannot write to {where}: {error.strerror}; make room for it", FAILED)
    return code


def _carry_out(arguments: Sequence[str]) -> int:
    try:
        with sigterm_as_ctrl_c():
            return carry_out(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except LossylinkError as error:
        return _complain(f"error: {error}", error.exit_code)
    except OSError:
        raise
    except Exception as error:
        _reraise_when_debugging(error)
        return _complain(_unexpected(error), FAILED)


def _unexpected(error: Exception) -> str:
    return f"error: unexpected {type(error).__name__}: {error}; LOSSYLINK_DEBUG=1 shows where"


def _complain(words: str, code: int) -> int:
    print(" ".join(words.split()), file=sys.stderr)
    return code


def _reraise_when_debugging(error: Exception) -> None:
    if os.environ.get("LOSSYLINK_DEBUG"):
        raise error


def _silence_stdout() -> None:
    """Point stdout at nothing, or the interpreter complains about it once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
