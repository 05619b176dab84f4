"""``python -m lossylink`` and the ``lossylink`` command."""

from __future__ import annotations

import atexit
import gc
import sys

from lossylink.cli import run_command_line

#: New objects after which Python looks for cycles of garbage during `lossylink run`. A short run makes 60,000
#: objects and keeps nearly all of them. With Python's own number, 700, the looking takes a tenth of the run.
_OBJECTS_BETWEEN_COLLECTIONS = 100_000


def main() -> int:
    """Run the command line and return its exit code."""
    if sys.argv[1:2] == ["run"]:  # others, such as a guard, last long enough to leave garbage behind
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # The system takes all memory back at the end, so that there is no garbage to look for.
    atexit.register(gc.freeze)
    return run_command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
