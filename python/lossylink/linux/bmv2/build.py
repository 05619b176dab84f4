"""Compiles every switch program: ``python -m lossylink.linux.bmv2.build``."""

from __future__ import annotations

import sys

from lossylink.errors import LossylinkError
from lossylink.linux.bmv2.sources import families
from lossylink.linux.bmv2.tools import COMPILER, SWITCH, compiled, version


def main() -> int:
    """Say which tools there are, and where each compiled program is; return the exit code."""
    try:
        for tool in (COMPILER, SWITCH):
            print(f"{tool} {version(tool)}")
        for family in families():
            print(f"{family}: {compiled(family)}")
    except LossylinkError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
