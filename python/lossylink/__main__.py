"""``python -m lossylink`` and the ``lossylink`` command."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    from lossylink.cli import run_command_line  # the import is part of what is timed

    return run_command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
