"""Writes the catalogue of the explorer: ``python -m lossylink.planning.explorer FILE``."""

from __future__ import annotations

import sys
from pathlib import Path

from lossylink.planning.explorer.catalogue import as_text, catalogue

# Processes that plan links import this module, too.
if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("write python -m lossylink.planning.explorer FILE")
    Path(sys.argv[1]).write_text(as_text(catalogue()), encoding="utf-8")
